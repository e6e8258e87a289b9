"""Show a check to a student: its calls as lines of Python, and its inputs."""

from __future__ import annotations

import html
import keyword
import math
import sys
from dataclasses import replace
from types import TracebackType
from typing import Any

import numpy as np

from .. import arrays, difference_messages, operations, rich_output
from ..card import frame, marked
from ..operations import Call, Op, Output, free_name, parameter_names
from ..recorded import RecordedCheck
from ..replay import Replayer, describe_error
from ..values import ArrayValue, Value, to_python
from . import history

LONG = 60  # characters: longer lists are inputs, not written into the lines


class Case:
    """One instance of a check: ``lines`` of Python that make its calls, ``inputs`` by name, and what is ``expected``.

    ``case["encoder_input"]`` is an input, ``case.run()`` makes the calls as the check does.
    """

    def __init__(self, exercise: str, check: str, description: str, record: RecordedCheck, namespace: dict[str, Any]):
        self.exercise, self.check, self.description, self.record = exercise, check, description, record
        self.namespace = namespace
        writer = _Writer(record, namespace)
        self.lines: list[str] = writer.lines
        self.inputs: dict[str, Any] = writer.inputs
        self.expected = {name: _expected(record.expected.outputs[name]) for name, spec in record.specs.items()
                         if not spec.predicate}
        self._made_after = len(history.cells())

    def __getitem__(self, name: str) -> Any:
        """Return an input of the check, by the name that stands in its lines."""
        return self.inputs[name]

    def run(self) -> dict[str, Any]:
        """Make the calls of the check on the notebook's definitions, and return its outputs by name.

        What your code prints is seen. An exception comes with the line of your code first, and its traceback begins
        there; ``%debug`` can follow.
        """
        __tracebackhide__ = True
        replayer, outputs = Replayer(self.namespace, printed=sys.stdout), {}
        try:
            with replayer.running():
                for op in self.record.ops:
                    op.run(replayer)
                    if isinstance(op, Output):
                        outputs[op.name] = replayer.registers[op.of]
        except Exception as error:
            print(difference_messages.error(describe_error(error, self.namespace)))
            raise error.with_traceback(self._student_traceback(error)) from None
        return outputs

    def _student_traceback(self, error: BaseException) -> TracebackType | None:
        """Return the traceback of an error from the student's own code on; the whole one where it has none."""
        trace = error.__traceback__
        while trace and trace.tb_frame.f_globals is not self.namespace:
            trace = trace.tb_next
        return trace or error.__traceback__

    def show(self) -> None:
        """Display the lines and the inputs: in a notebook as HTML, elsewhere as text."""
        rich_output.show(self.page(), self.text())

    def text(self) -> str:
        """Return the case for a terminal."""
        lines = "\n".join(f"    {line}" for line in self.lines)
        return (f"{self.exercise}, {self.check}: {self.description}\n\n"
                f"What the check does; copy the lines into a cell of your own, after `case = {self.call}`:\n\n"
                f"{lines}\n\ninputs: {self.named(self.inputs)}\nexpected: {self.named(self.expected)}\n\n"
                f"{self.expected_hint}{AFTER}")

    def page(self) -> str:
        """Return the case for a notebook, as HTML."""
        call, inputs, expected = (html.escape(text) for text in
                                  (self.call, self.named(self.inputs), self.named(self.expected)))
        head = f"<b>{html.escape(self.exercise)}</b>, {html.escape(self.check)}: {marked(self.description)}"
        body = ("<p>What the check does; copy the lines into a cell of your own, after "
                f"<code>case = {call}</code>:</p>"
                f'<pre tabindex="0">{html.escape(chr(10).join(self.lines))}</pre>'
                f"<p><b>inputs</b>: {inputs}<br><b>expected</b>: {expected}</p>"
                f'<p class="soft">{marked(self.expected_hint + AFTER)}</p>')
        return frame(f"A check of {self.exercise}", head, body)

    @property
    def expected_hint(self) -> str:
        """The sentence that says where the right answer is."""
        first = next(iter(self.expected), None)
        return f'The right answer is `case.expected["{first}"]`. ' if first else ""

    @property
    def call(self) -> str:
        """The call that made this case."""
        return f'tp.case("{self.exercise}", "{self.check}")'

    @staticmethod
    def named(values: dict[str, Any]) -> str:
        """Return names with short descriptions of their values."""
        return ", ".join(f"{name} {_short(value)}" for name, value in values.items()) or "none"

    def _ipython_display_(self) -> None:
        """Display the card, but not a second time beneath the cell that made it."""
        if len(history.cells()) != self._made_after:
            self.show()


AFTER = ("`case.run()` makes these calls exactly as the check does, and returns what comes out: your prints are seen, "
         "and an error comes with its traceback, your line first.")


def _short(value: Any) -> str:
    if isinstance(value, np.ndarray) or arrays.is_tensor(value):
        return f"{arrays.dtype_name(value.dtype)} {tuple(value.shape)}"
    if isinstance(value, (int, float, bool, type(None))):
        return repr(value)
    return f"({type(value).__name__} of {len(value)})" if isinstance(value, (list, tuple, dict, str)) else "(code)"


def _expected(value: Value) -> Any:
    """Return an expected output as the student's code would give it."""
    if isinstance(value, ArrayValue) and value.kind == "tensor":
        return arrays.to_tensor(value.array, dtype=value.dtype)
    return to_python(value)


class _Writer:
    """Writes recorded calls as lines of Python, and collects the inputs that they name."""

    def __init__(self, record: RecordedCheck, namespace: dict[str, Any]):
        self.namespace = namespace
        self.lines: list[str] = []
        self.inputs: dict[str, Any] = {}
        self.expressions: dict[int, str] = {}  # register → the expression that stands for it
        self.callables: dict[int, Any] = {}  # register → the function or class of the notebook that it stands for
        self.owner: dict[int, int] = {}  # register of an attribute → that of what it belongs to
        self.outputs = {op.of: op.name for op in reversed(record.ops) if isinstance(op, Output)}
        self.unpacked = {op.of for op in record.ops if isinstance(op, operations.Unpack)}
        self.taken = {op.name for op in record.ops if isinstance(op, operations.Name)}  # no variable may replace them
        self.replayer = Replayer({})
        for op in record.ops:
            self.lines += self._lines(op)

    def _lines(self, op: Op) -> list[str]:
        """Return the lines of one operation; without lines, its result is written where it is used."""
        expressions = self.expressions
        match op:
            case operations.Name(name=name, to=to):
                expressions[to], self.callables[to] = name, self.namespace.get(name)
            case operations.Library(name=name, to=to):
                expressions[to] = name
                return [] if f"import {name}" in self.lines else [f"import {name}"]
            case operations.Attribute(of=of, name=name, to=to):
                expressions[to], self.owner[to] = f"{expressions[of]}.{name}", of
                self.callables[to] = getattr(self.callables.get(of), name, None)
            case operations.SetAttribute(of=of, name=name, value=value):
                return [f"{expressions[of]}.{name} = {self.argument(value, name)}"]
            case operations.Item(of=of, key=key, to=to):
                expressions[to] = f"{expressions[of]}[{self.argument(key, 'key')}]"
            case operations.Unpack(of=of, to=registers):
                names = [self.variable(register, "part") for register in registers]
                return [f"{', '.join(names)}{',' if len(names) == 1 else ''} = {expressions[of]}"]
            case Call():
                return self._call(op)
            case operations.SetWeights(of=of, values=values):
                tensors = {name: arrays.to_tensor(value) for name, value in values.items()}
                weights = self.input(f"weights of {expressions[of]}", tensors)
                return [f"{expressions[of]}.load_state_dict({weights}, strict=False)"]
            case operations.Define(to=to, replaces=name):
                replace(op, replaces=None).run(self.replayer)
                expressions[to] = self.input(op.name, self.replayer.registers[to])
                return [f"# the check puts a stub, {expressions[to]}, in the place of your {name}"] if name else []
            case operations.Leaf(value=value, to=to):
                argument = self.argument(value, "leaf")
                return [f"{self.variable(to, 'leaf')} = {argument}.clone().requires_grad_()"]
            case operations.Backward(of=of, projection=projection):
                return [f"({expressions[of]} * {self.argument(projection, 'projection')}).sum().backward()"]
            case operations.EvalMode(of=of):
                return [f"for part in {expressions[of]}.modules():", "    part.training = False"]
            case operations.Forbid(names=names):
                return [f"# does not count here: {', '.join(names)}"]
            case Output(name=name, of=of):
                return [] if expressions[of] == name else [f"{expressions[of]}  # {name}"]
        return []

    def _call(self, op: Call) -> list[str]:
        function = self.expressions[op.f]
        if function.endswith(".to") and op.args == [{"$device": True}]:  # here, all is on the CPU
            owner = self.owner[op.f]
            self.expressions[op.to], self.callables[op.to] = self.expressions[owner], self.callables.get(owner)
            return []
        call = f"{function}({self.arguments(op)})"
        network = self.callables.get(op.f)
        self.callables[op.to] = getattr(network, "forward", None) if isinstance(network, type) else None
        if op.to in self.unpacked and op.to not in self.outputs:
            self.expressions[op.to] = call
            self.unpacked.discard(op.to)
            return []
        return [f"{self.variable(op.to, function.rpartition('.')[2].lower())} = {call}"]

    # Expressions

    def arguments(self, op: Call) -> str:
        """Return the arguments of a call."""
        names = iter(parameter_names(self.callables.get(op.f)))
        positional = [self.argument(value, next(names, "input")) for value in op.args]
        return ", ".join([*positional, *(f"{name}={self.argument(value, name)}" for name, value in op.kwargs.items())])

    def argument(self, tree: Any, name: str) -> str:
        """Return an argument as an expression; a long one becomes an input of that name."""
        if isinstance(tree, np.ndarray):
            return self.input(name, tree.copy())
        if isinstance(tree, list):
            if len(repr(tree)) > LONG and not _holds_refs(tree):
                return self.input(name, list(tree))
            return f"[{', '.join(self.argument(item, name) for item in tree)}]"
        if isinstance(tree, float) and not math.isfinite(tree):
            return f'float("{tree}")'
        if not isinstance(tree, dict):
            return repr(tree)
        (kind, content), *_ = tree.items()
        if kind == "$ref":
            return self.expressions[content]
        if kind == "$tuple":
            items = ", ".join(self.argument(item, name) for item in content)
            return f"({items},)" if len(content) == 1 else f"({items})"
        if kind == "$device":
            return 'torch.device("cpu")'
        if kind == "$dtype":
            return f"torch.{content}"
        if kind == "$slice":
            return f"slice{tuple(content)}"
        if kind == "$dict" and _holds_results(content):
            return f"{{{', '.join(f'{self.argument(k, name)}: {self.argument(v, name)}' for k, v in content)}}}"
        return self.input(name, self.replayer.value(tree))

    def input(self, name: str, value: Any) -> str:
        """Return an input as it is named in the lines."""
        name = free_name(name, self.inputs)
        self.inputs[name] = value
        return f'case["{name}"]'

    def variable(self, register: int, word: str) -> str:
        """Return a variable for a register, with the name of the output that it holds if possible."""
        name = self.outputs.get(register, "")
        if not name.isidentifier() or keyword.iskeyword(name) or name in self.taken:
            name = free_name(word if word.isidentifier() else "value", self.taken | self.namespace.keys(), "{}_{}")
        self.taken.add(name)
        self.expressions[register] = name
        return name


def _holds_refs(tree: Any) -> bool:
    return isinstance(tree, dict) or (isinstance(tree, list) and any(map(_holds_refs, tree)))


def _holds_results(tree: Any) -> bool:
    """Return whether an argument holds what an earlier call returned."""
    if isinstance(tree, dict):
        return "$ref" in tree or any(map(_holds_results, tree.values()))
    return isinstance(tree, list) and any(map(_holds_results, tree))
