"""Plain data and arrays as bytes, and back: no pickle, nothing evaluated, every size bounded.

A message is a tree of dicts (with string keys), lists, strings, numbers, booleans and ``None``, with numpy
arrays as leaves. On the wire stand a magic number, the length of a JSON header, the header, and the bytes of
the arrays one after another.
"""

import gzip
import json
import struct
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import values
from .text import with_article

MAGIC = b"TPW1"
DTYPES = tuple(name for name in values.DTYPES if name != "bfloat16")  # numpy's
_NAMES = {np.dtype(name): name for name in DTYPES}
MAX_BYTES = 64 * 2**20
MAX_DEPTH = 24
MAX_ARRAYS = 100_000


class WireError(ValueError):
    """The received bytes are no message."""


def pack(tree: Any) -> bytes:
    """Pack ``tree`` into a message; ``WireError`` when it holds something that cannot travel."""
    arrays: list[NDArray[Any]] = []

    def strip(node: Any, depth: int = 0) -> Any:
        if depth > MAX_DEPTH:
            raise WireError(f"nested more than {MAX_DEPTH} deep")
        if node is None or type(node) in (bool, int, float, str):
            return node
        if isinstance(node, np.ndarray):
            native = node.dtype.newbyteorder("=")
            if native not in _NAMES:
                raise WireError(f"an array of {node.dtype} cannot travel")
            arrays.append(np.asarray(node, native))
            return {"$array": len(arrays) - 1}
        if isinstance(node, dict):
            if not all(isinstance(key, str) for key in node) or "$array" in node:
                raise WireError("the keys of a message are strings, and '$array' is taken")
            return {key: strip(value, depth + 1) for key, value in node.items()}
        if isinstance(node, (list, tuple)):
            return [strip(value, depth + 1) for value in node]
        raise WireError(f"{with_article(type(node).__name__)} cannot travel")

    body = strip(tree)
    table = [[_NAMES[array.dtype], list(array.shape)] for array in arrays]
    header = json.dumps({"body": body, "arrays": table}).encode("ascii")
    return b"".join([MAGIC, struct.pack("<I", len(header)), header, *(array.tobytes() for array in arrays)])


def unpack(data: bytes, max_header: int = MAX_BYTES) -> Any:
    """Read the tree of a message; ``WireError`` for anything that is not one, whoever wrote it.

    A header takes up to fifty times its bytes of memory when it is read.
    """
    if len(data) > MAX_BYTES:
        raise WireError(f"a message of {len(data)} bytes; at most {MAX_BYTES} are read")
    if len(data) < 8 or data[:4] != MAGIC:
        raise WireError("not a message")
    (length,) = struct.unpack("<I", data[4:8])
    if 8 + length > len(data):
        raise WireError("the header is cut short")
    if length > max_header:
        raise WireError(f"a header of {length} bytes; at most {max_header} are read")
    try:
        header = json.loads(data[8 : 8 + length].decode("ascii"))
        body, table = header["body"], header["arrays"]
        arrays, offset = [], 8 + length
        if not isinstance(table, list) or len(table) > MAX_ARRAYS:
            raise WireError("no list of arrays, or too many of them")
        for dtype, shape in table:
            array, offset = _array(data, offset, dtype, shape)
            arrays.append(array)
        if offset != len(data):
            raise WireError("bytes are left over")
        return _with_arrays(body, arrays)
    except WireError:
        raise
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise WireError(f"not a message: {type(error).__name__}") from None


def compress(tree: Any) -> bytes:
    """Return a tree as the bytes of a file, the same at any time."""
    return gzip.compress(pack(tree), mtime=0)


def decompress(data: bytes) -> Any:
    """Read the tree in the bytes of a file; ``WireError`` where they hold none, or a part of one."""
    try:
        return unpack(gzip.decompress(data))
    except (OSError, EOFError, zlib.error):
        raise WireError("not compressed, or cut short") from None


def _array(data: bytes, offset: int, dtype: Any, shape: Any) -> tuple[NDArray[Any], int]:
    if dtype not in DTYPES:
        raise WireError("an array of an unknown type")
    if not (isinstance(shape, list) and len(shape) <= values.MAX_AXES
            and all(type(n) is int and 0 <= n <= MAX_BYTES for n in shape)):
        raise WireError("an array of an impossible shape")
    count = 1
    for size in shape:
        count *= size
    nbytes = count * np.dtype(dtype).itemsize
    if offset + nbytes > len(data):
        raise WireError("an array is cut short")
    if dtype == "bool":  # any byte may arrive; only 0 and 1 are booleans
        array: NDArray[Any] = np.frombuffer(data, "uint8", count, offset).astype(bool)
    else:
        array = np.frombuffer(data, dtype, count, offset).copy()
    return array.reshape(shape), offset + nbytes


def _with_arrays(node: Any, arrays: list[NDArray[Any]], depth: int = 0) -> Any:
    if depth > MAX_DEPTH:
        raise WireError(f"nested more than {MAX_DEPTH} deep")
    if isinstance(node, dict):
        if "$array" in node:
            index = node["$array"]
            if type(index) is not int or not 0 <= index < len(arrays):
                raise WireError("an array that is not there")
            return arrays[index]
        return {key: _with_arrays(value, arrays, depth + 1) for key, value in node.items()}
    if isinstance(node, list):
        return [_with_arrays(value, arrays, depth + 1) for value in node]
    return node
