"""A reader for the tab-separated files of sentence pairs that learners download.

    reader = PairFile("fra.txt")
    for english, french in reader:
        ...
    print(reader.report())

The file is read as a stream, a bounded piece at a time: its size does not matter. Lines that are not a pair are
left out, counted by reason, and the first of each kind is remembered by its number.
"""

import codecs
import unicodedata

__all__ = ["PairFile"]

CHUNK = 1 << 16          # bytes read at once
LONGEST_LINE = 1 << 14   # characters; a longer line is no sentence
SAMPLE = 1 << 20         # bytes that are looked at to find the encoding

_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


class PairFile:
    """Iterate over the (source, target) pairs of a file; each round reads it from the start and counts anew.

    `columns` says which two columns hold the sentences. Without an `encoding` the file's byte-order mark decides;
    if it has none it is UTF-8 when its beginning is valid UTF-8, else Windows-1252. After a round `pairs` is the
    number of pairs, and `bad` maps each reason to (how many lines, number of the first, from 1). Raises `OSError`
    where the file cannot be read, `LookupError` where there is no such encoding.
    """

    def __init__(self, path, columns=(0, 1), encoding=None):
        self.path, self.columns = path, columns
        self.encoding = encoding or _encoding_of(path)
        self.pairs, self.bad = 0, {}

    def __iter__(self):
        self.pairs, self.bad = 0, {}
        for number, line in enumerate(_lines(self.path, self.encoding), 1):
            pair, reason = self._parsed(line)
            if reason is None:
                self.pairs += 1
                yield pair
            elif reason:
                count, first = self.bad.get(reason, (0, number))
                self.bad[reason] = (count + 1, first)

    def _parsed(self, line):
        """(pair, None), or (None, why not); an empty line is skipped without a word."""
        if line is None:
            return None, "too long"
        if not line.strip():
            return None, ""
        if "\N{REPLACEMENT CHARACTER}" in line:
            return None, "undecodable"
        cells = line.split("\t")
        if len(cells) < 2:
            return None, "no tab"
        if len(cells) <= max(self.columns):
            return None, "too few columns"
        source, target = (" ".join(unicodedata.normalize("NFC", cells[column]).split()) for column in self.columns)
        return ((source, target), None) if source and target else (None, "an empty side")

    def report(self):
        """What the last round found, in a sentence: how many pairs, and what was left out, by reason."""
        text = f"{self.pairs} pairs read as {self.encoding}"
        for reason, (count, first) in sorted(self.bad.items()):
            text += f"; {count} {'line' if count == 1 else 'lines'} left out: {reason} (first: line {first})"
        return text + "."


def _encoding_of(path):
    with open(path, "rb") as file:
        sample = file.read(SAMPLE)
    for mark, encoding in _MARKS:
        if sample.startswith(mark):
            return encoding
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample)  # a character cut off at the end is no error
        return "utf-8"
    except UnicodeDecodeError:
        return "cp1252"


def _lines(path, encoding):
    """The lines of a file, without their ends; None for a line that is too long to be kept."""
    decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
    rest, skipping = "", False
    with open(path, "rb") as file:
        while True:
            data = file.read(CHUNK)
            # \r\n may be cut in two: a \r at the end of what is left is taken off with its line
            *lines, rest = (rest + decoder.decode(data, final=not data)).split("\n")
            for line in lines:
                if skipping or len(line) > LONGEST_LINE:
                    skipping = False
                    yield None
                else:
                    yield line.rstrip("\r")
            if not data:
                break
            if len(rest) > LONGEST_LINE:
                rest, skipping = "", True
    if rest or skipping:
        yield None if skipping else rest.rstrip("\r")
