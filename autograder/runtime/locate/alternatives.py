"""List the expressions that an expression is easily mistaken for."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TypeGuard

from ..syntax import root

# Functions that are mistaken for each other.
CONFUSABLE = [
    ("softmax", "log_softmax"), ("sum", "mean"), ("any", "all"), ("max", "min"), ("argmax", "argmin"),
    ("sigmoid", "tanh"), ("zeros", "ones"), ("zeros_like", "ones_like"), ("exp", "sqrt"), ("log", "exp"),
    ("randn", "rand"), ("amax", "amin"), ("minimum", "maximum"), ("lower", "upper"), ("cumsum", "cumprod"),
]
# Without one of these, equal numbers are no longer equal, and what else is left out may seem mended.
CONVERSIONS = ("item", "tolist")
OPERATORS: tuple[type[ast.operator], ...] = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.MatMult)
COMPARISONS: tuple[type[ast.cmpop], ...] = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)
OWNERS = ("torch", "nn", "F", "np", "math", "self", "model")  # of functions: a method of another name is applied to it
LOAD = ast.Load()
ONE = ast.Constant(1)


def similar_expressions(node: ast.expr, variables: Sequence[str], attributes: Sequence[str]) -> Iterator[ast.expr]:
    """Yield what an expression may have been mistaken for, and parts of it.

    ``variables`` are those of its function, ``attributes`` those of self.
    """
    match node:
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(value)):
            for number in dict.fromkeys((value + 1, value - 1, -value - 1, -value, 0, 1, 2)):
                yield ast.Constant(number)
        case ast.Constant(value=float(value)):
            yield from map(ast.Constant, (2 * value, value / 2, -value, 1.0))
        case ast.Name(id=name):
            yield from (ast.Name(similar, LOAD) for similar in (*variables, *_confusable_names(name))
                        if similar != name)
        case ast.Attribute(value=owner, attr=name):
            names = attributes if isinstance(owner, ast.Name) and owner.id == "self" else []
            yield from (ast.Attribute(owner, similar, LOAD) for similar in (*names, *_confusable_names(name))
                        if similar != name)
        case ast.UnaryOp(operand=operand):
            yield operand
        case ast.BinOp(left=left, op=operator, right=right):
            yield from (ast.BinOp(left, kind(), right) for kind in OPERATORS)
            yield from (left, right, ast.BinOp(right, operator, left))
            if isinstance(left, ast.BinOp):
                yield ast.BinOp(left.left, left.op, ast.BinOp(left.right, operator, right))
            if isinstance(right, ast.BinOp):
                yield ast.BinOp(ast.BinOp(left, operator, right.left), right.op, right.right)
            if (inner := _operand(left)) is not None:  # tanh(a) + b, where tanh(a + b) is meant
                yield _on(left, ast.BinOp(inner, operator, right))
            if (inner := _operand(right)) is not None:
                yield _on(right, ast.BinOp(left, operator, inner))
        case ast.Compare(left=left, ops=[_, *operators], comparators=operands):
            yield from (ast.Compare(left, [kind(), *operators], operands) for kind in COMPARISONS)
        case ast.BoolOp(op=operator, values=operands):
            yield ast.BoolOp(ast.Or() if isinstance(operator, ast.And) else ast.And(), operands)
            yield from operands
        case ast.IfExp(test=test, body=body, orelse=alternative):
            yield from (body, alternative, ast.IfExp(test, alternative, body))
        case ast.Subscript():
            yield from _similar_subscripts(node)
        case ast.Call():
            yield from _similar_calls(node)
            if isinstance(inner := _operand(node), ast.BinOp):
                yield from (ast.BinOp(_on(node, inner.left), inner.op, inner.right),
                            ast.BinOp(inner.left, inner.op, _on(node, inner.right)),
                            ast.BinOp(_on(node, inner.left), inner.op, _on(node, inner.right)))
        case ast.Tuple(elts=items) | ast.List(elts=items):
            yield from (type(node)(new_items, LOAD) for new_items in reordered(items))
        case (ast.ListComp(elt=element, generators=[first, *inner])
              | ast.GeneratorExp(elt=element, generators=[first, *inner])):
            if first.ifs:
                yield type(node)(element, [ast.comprehension(first.target, first.iter, [], 0), *inner])


def _operand(node: ast.expr) -> ast.expr | None:
    """Return what a function or method is applied to; None if there is nothing, or a starred argument."""
    if not isinstance(node, ast.Call):
        return None
    if _is_method(node.func):
        return node.func.value
    return node.args[0] if node.args and not isinstance(node.args[0], ast.Starred) else None


def _is_method(function: ast.expr) -> TypeGuard[ast.Attribute]:
    return isinstance(function, ast.Attribute) and root(function.value) not in OWNERS


def _on(call: ast.expr, operand: ast.expr) -> ast.expr:
    """Return a call that is applied to another operand."""
    assert isinstance(call, ast.Call)
    if _is_method(call.func):
        return ast.Call(ast.Attribute(operand, call.func.attr, LOAD), call.args, call.keywords)
    return ast.Call(call.func, [operand, *call.args[1:]], call.keywords)


def _confusable_names(name: str) -> list[str]:
    return [other for pair in CONFUSABLE if name in pair for other in pair]


def reordered(items: Sequence[ast.expr]) -> Iterator[list[ast.expr]]:
    """Yield a list with each two neighbours exchanged, then in reverse order."""
    for i in range(len(items) - 1):
        yield [*items[:i], items[i + 1], items[i], *items[i + 2:]]
    if len(items) > 2:
        yield list(items[::-1])


def _plus_and_minus_one(bound: ast.expr) -> tuple[ast.expr, ast.expr]:
    return ast.BinOp(bound, ast.Add(), ONE), ast.BinOp(bound, ast.Sub(), ONE)


def _similar_subscripts(node: ast.Subscript) -> Iterator[ast.expr]:
    """Yield the whole of which an expression is a part, and other parts of it."""
    yield node.value
    is_tuple = isinstance(node.slice, ast.Tuple)
    indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    one_changed = [[*indices[:i], similar, *indices[i + 1:]]
                   for i, index in enumerate(indices) for similar in _similar_indices(index)]
    for new in [*one_changed, *reordered(indices)]:
        yield ast.Subscript(node.value, ast.Tuple(new, LOAD) if is_tuple else new[0], LOAD)


def _similar_indices(index: ast.expr) -> Iterator[ast.expr]:
    if not isinstance(index, ast.Slice):
        yield from _plus_and_minus_one(index)
        yield ast.Slice(index, _plus_and_minus_one(index)[0])
        yield from (ast.Slice(index, None), ast.Slice(None, index))
        return
    lower, upper, step = index.lower, index.upper, index.step
    yield from filter(None, (lower, upper))
    for bound in (*_plus_and_minus_one(lower), None) if lower else (ONE,):
        yield ast.Slice(bound, upper, step)
    for bound in (*_plus_and_minus_one(upper), None) if upper else (ast.Constant(-1),):
        yield ast.Slice(lower, bound, step)
    if (lower is None) != (upper is None):
        yield ast.Slice(upper, lower, step)
        yield ast.Slice(None, ast.Constant(-1), step) if lower else ast.Slice(ONE, None, step)
        if upper:
            yield ast.Slice(ast.UnaryOp(ast.USub(), upper), None, step)
        elif isinstance(lower, ast.UnaryOp):
            yield ast.Slice(None, lower.operand, step)
    if step:
        yield ast.Slice(lower, upper)


def _similar_calls(node: ast.Call) -> Iterator[ast.expr]:
    """Yield a call with other arguments, then its object and its arguments without the call."""
    function, args, keywords = node.func, node.args, node.keywords
    if isinstance(function, ast.Name) and function.id == "range":
        for i, bound in enumerate(args[:2]):
            yield from (ast.Call(function, [*args[:i], shifted, *args[i + 1:]], [])
                        for shifted in _plus_and_minus_one(bound))
        if len(args) == 1:
            yield ast.Call(function, [ONE, *args], [])
        yield ast.Call(ast.Name("reversed", LOAD), [node], [])
    yield from (ast.Call(function, new_args, keywords) for new_args in reordered(args))
    yield from (ast.Call(function, [*args[:i], *args[i + 1:]], keywords) for i in range(len(args)))
    yield from (ast.Call(function, args, [*keywords[:i], *keywords[i + 1:]]) for i in range(len(keywords)))
    if isinstance(function, ast.Attribute):
        if function.attr not in CONVERSIONS:
            yield function.value
        if args:
            yield ast.Call(ast.Attribute(args[0], function.attr, LOAD), [function.value, *args[1:]], keywords)
    yield from args
