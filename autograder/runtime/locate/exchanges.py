"""Exchange an expression for another that is easily mistaken for it, or for a part of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

# Functions that are mistaken for each other.
EXCHANGED = [
    ("softmax", "log_softmax"), ("sum", "mean"), ("any", "all"), ("max", "min"), ("argmax", "argmin"),
    ("sigmoid", "tanh"), ("zeros", "ones"), ("zeros_like", "ones_like"), ("exp", "sqrt"), ("log", "exp"),
    ("randn", "rand"), ("amax", "amin"), ("minimum", "maximum"), ("lower", "upper"), ("cumsum", "cumprod"),
]
OPERATORS: tuple[type[ast.operator], ...] = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.MatMult)
COMPARISONS: tuple[type[ast.cmpop], ...] = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)
LOAD = ast.Load()
ONE = ast.Constant(1)


def similar(node: ast.expr, variables: Sequence[str], attributes: Sequence[str]) -> Iterator[ast.expr]:
    """Yield what an expression may have been mistaken for, with its function's variables and attributes of self."""
    match node:
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(value)):
            for other in dict.fromkeys((value + 1, value - 1, -value - 1, -value, 0, 1, 2)):
                yield ast.Constant(other)
        case ast.Constant(value=float(value)):
            yield from map(ast.Constant, (2 * value, value / 2, -value, 1.0))
        case ast.Name(id=name):
            yield from (ast.Name(other, LOAD) for other in (*variables, *_mistaken(name)) if other != name)
        case ast.Attribute(value=of, attr=name):
            own = attributes if isinstance(of, ast.Name) and of.id == "self" else []
            yield from (ast.Attribute(of, other, LOAD) for other in (*own, *_mistaken(name)) if other != name)
        case ast.UnaryOp(operand=operand):
            yield operand
        case ast.BinOp(left=left, op=operator, right=right):
            yield from (ast.BinOp(left, kind(), right) for kind in OPERATORS)
            yield from (left, right, ast.BinOp(right, operator, left))
            if isinstance(left, ast.BinOp):
                yield ast.BinOp(left.left, left.op, ast.BinOp(left.right, operator, right))
            if isinstance(right, ast.BinOp):
                yield ast.BinOp(ast.BinOp(left, operator, right.left), right.op, right.right)
        case ast.Compare(left=left, ops=[_, *rest], comparators=others):
            yield from (ast.Compare(left, [kind(), *rest], others) for kind in COMPARISONS)
        case ast.BoolOp(op=operator, values=values):
            yield ast.BoolOp(ast.Or() if isinstance(operator, ast.And) else ast.And(), values)
            yield from values
        case ast.IfExp(test=test, body=body, orelse=other):
            yield from (body, other, ast.IfExp(test, other, body))
        case ast.Subscript():
            yield from _of_part(node)
        case ast.Call():
            yield from _of_call(node)
        case ast.Tuple(elts=values) | ast.List(elts=values):
            yield from (type(node)(one, LOAD) for one in _swapped(values))
        case ast.ListComp(elt=made, generators=[first, *more]) | ast.GeneratorExp(elt=made, generators=[first, *more]):
            if first.ifs:
                yield type(node)(made, [ast.comprehension(first.target, first.iter, [], 0), *more])


def _mistaken(name: str) -> list[str]:
    return [other for pair in EXCHANGED if name in pair for other in pair]


def _swapped(values: Sequence[ast.expr]) -> Iterator[list[ast.expr]]:
    """Yield a list with each two neighbours exchanged, and the whole in the other order."""
    for i in range(len(values) - 1):
        yield [*values[:i], values[i + 1], values[i], *values[i + 2:]]
    if len(values) > 2:
        yield list(values[::-1])


def _moved_by_one(bound: ast.expr) -> tuple[ast.expr, ast.expr]:
    return ast.BinOp(bound, ast.Add(), ONE), ast.BinOp(bound, ast.Sub(), ONE)


def _of_part(node: ast.Subscript) -> Iterator[ast.expr]:
    """Yield the whole, and other parts of it."""
    yield node.value
    several = isinstance(node.slice, ast.Tuple)
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    found = [[*parts[:i], other, *parts[i + 1:]] for i, one in enumerate(parts) for other in _of_index(one)]
    for new in [*found, *_swapped(parts)]:
        yield ast.Subscript(node.value, ast.Tuple(new, LOAD) if several else new[0], LOAD)


def _of_index(one: ast.expr) -> Iterator[ast.expr]:
    if not isinstance(one, ast.Slice):
        yield from _moved_by_one(one)
        yield ast.Slice(one, _moved_by_one(one)[0])
        yield from (ast.Slice(one, None), ast.Slice(None, one))
        return
    lower, upper, step = one.lower, one.upper, one.step
    yield from filter(None, (lower, upper))
    for other in (*_moved_by_one(lower), None) if lower else (ONE,):
        yield ast.Slice(other, upper, step)
    for other in (*_moved_by_one(upper), None) if upper else (ast.Constant(-1),):
        yield ast.Slice(lower, other, step)
    if (lower is None) != (upper is None):
        yield ast.Slice(upper, lower, step)
        yield ast.Slice(None, ast.Constant(-1), step) if lower else ast.Slice(ONE, None, step)
    if step:
        yield ast.Slice(lower, upper)


def _of_call(node: ast.Call) -> Iterator[ast.expr]:
    """Yield a call with other arguments, and what it is made on."""
    function, args, keywords = node.func, node.args, node.keywords
    if isinstance(function, ast.Name) and function.id == "range":
        for i, bound in enumerate(args[:2]):
            yield from (ast.Call(function, [*args[:i], other, *args[i + 1:]], []) for other in _moved_by_one(bound))
        if len(args) == 1:
            yield ast.Call(function, [ONE, *args], [])
        yield ast.Call(ast.Name("reversed", LOAD), [node], [])
    yield from (ast.Call(function, one, keywords) for one in _swapped(args))
    yield from (ast.Call(function, [*args[:i], *args[i + 1:]], keywords) for i in range(len(args)))
    yield from (ast.Call(function, args, [*keywords[:i], *keywords[i + 1:]]) for i in range(len(keywords)))
    if isinstance(function, ast.Attribute):
        yield function.value
        if args:
            yield ast.Call(ast.Attribute(args[0], function.attr, LOAD), [function.value, *args[1:]], keywords)
    yield from args
