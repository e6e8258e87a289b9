"""Edits of a cell: what people mend is among them, one place at a time, the nearest first."""

import ast
from textwrap import indent

import pytest

from autograder.runtime.locate import edits as module
from autograder.runtime.locate.statements import statements_of
from autograder.runtime.syntax import segment

BODY = """
def norm(x, y, axis=0):
    total = 0
    for row in x[:-1]:
        if row > y and not total:
            total += row * y
        count = len(x)
    return (total - y) / count, total
"""


def edits(text, line, matched_lines=(), types=None):
    return module.edits_of(text, [line], matched_lines, types or {})


def written(text):
    return ast.unparse(ast.parse(text))


def around(line, text="x, y, i, n, total = 1, 2, 3, 4, 5"):
    return f"def f(a, b):\n    {text}\n    {line}\n    return x\n"


@pytest.mark.parametrize("wrong, right, place", [
    ("x = y + 1", "x = y + 2", "1"),
    ("x = y.sum(dim=0)", "x = y.sum(dim=-1)", "0"),
    ("x = f(y, True)", "x = f(y, False)", "True"),
    ("x = y * 0.5", "x = y * 1.0", "0.5"),
    ("x = y + i", "x = y + n", "i"),
    ("x = y - i", "x = y / i", "y - i"),
    ("x = y - i", "x = i - y", "y - i"),
    ("x = y - i / n", "x = (y - i) / n", "y - i / n"),
    ("x = (y - i) / n", "x = y - i / n", "(y - i) / n"),
    ("x = -y", "x = y", "-y"),
    ("x = y < i", "x = y >= i", "y < i"),
    ("x = y and i", "x = y or i", "y and i"),
    ("x = y if n else i", "x = i if n else y", "y if n else i"),
    ("x = y.mean(0)", "x = y.sum(0)", "y.mean"),
    ("x = softmax(y)", "x = log_softmax(y)", "softmax"),
    ("x = y[i]", "x = y[i + 1]", "y[i]"),
    ("x = y[:-1]", "x = y[1:]", "y[:-1]"),
    ("x = y[:, :i]", "x = y[:, i:]", "y[:, :i]"),
    ("x = y[i:]", "x = y[i]", "y[i:]"),
    ("x = y[:i]", "x = y[-i:]", "y[:i]"),
    ("x = y[-i:]", "x = y[:i]", "y[-i:]"),
    ("x = y[0]", "x = y[0:0 + 1]", "y[0]"),
    ("x = y[i, n]", "x = y[n, i]", "y[i, n]"),
    ("x = range(n - 1)", "x = range(n)", "n - 1"),
    ("x = range(1, n)", "x = range(1, n + 1)", "range(1, n)"),
    ("x = cat(y, i)", "x = cat(i, y)", "cat(y, i)"),
    ("x = y.sum(0, keepdim=True)", "x = y.sum(0)", "y.sum(0, keepdim=True)"),
    ("x = y.detach() @ i", "x = y @ i", "y.detach()"),
    ("x = (y, i)", "x = (i, y)", "(y, i)"),
    ("x = y.gather(0, i)", "x = y.gather(1, i)", "0"),
    ("x = y.mm(i)", "x = i.mm(y)", "y.mm(i)"),
    ("x = torch.tanh(y)", "x = torch.tanh(y) * n", "torch.tanh(y)"),
    ("x = torch.tanh(y) + i", "x = torch.tanh(y + i)", "torch.tanh(y) + i"),
    ("x = i - y.softmax(0)", "x = (i - y).softmax(0)", "i - y.softmax(0)"),
    ("x = self.f(y, n) + i", "x = self.f(y + i, n)", "self.f(y, n) + i"),
    ("x = f(y) + i", "x = f(y + i)", "f(y) + i"),
    ("x = torch.tanh(y + i)", "x = torch.tanh(y) + i", "torch.tanh(y + i)"),
    ("x = (y + i).tanh()", "x = y + i.tanh()", "(y + i).tanh()"),
    ("x = f(y * i)", "x = f(y) * f(i)", "f(y * i)"),
    ("x = f(y)", "x = f(y, n)", "f(y)"),
    ("x = [one for one in y if one]", "x = [one for one in y]", "[one for one in y if one]"),
    ("x = y @ i", "x = y @ i.T", "i"),
    ("x = total", "x = list(total)", "total"),
    ("x = y.sum()", "x = y.sum() ** 0.5", "y.sum()"),
    ("x += y", "x -= y", "x += y"),
    ("x = (y for y in i)", "x = (i for y in i)", "y"),
    ("x[i:i + n] = y", "x[:i + n] = y", "x[i:i + n]"),
    ("x[i] += y", "x[i + 1] += y", "x[i]"),
    ("x = n", "x = n - 1", "n"),
])
def test_what_people_mend_is_an_edit_at_that_place(wrong, right, place):
    text = around(wrong)
    matching = next(edit for edit in edits(text, 3) if written(edit.text) == written(around(right)))
    assert segment(text, matching.span) == place


@pytest.mark.parametrize("wrong, right", [
    ("x = 0\nfor i in b:\n    a(i)", "for i in b:\n    x = 0\n    a(i)"),
    ("x = 0\na(b)\nfor i in b:\n    for j in i:\n        a(j)",
     "a(b)\nfor i in b:\n    for j in i:\n        x = 0\n        a(j)"),
    ("for i in b:\n    x = 0\n    a(i)", "x = 0\nfor i in b:\n    a(i)"),
    ("for i in b:\n    a(i)\n    x = i", "for i in b:\n    a(i)\nx = i"),
    ("for i in b:\n    a(i)\nx = i", "for i in b:\n    a(i)\n    x = i"),
    ("a(x)\nx = b[x]", "x = b[x]\na(x)"),
    ("a(x)\nx = b[x]", "x = b[x]"),
    ("if a > b:\n    x = b", "if not a > b:\n    x = b"),
    ("if a > b:\n    x = b", "if True:\n    x = b"),
    ("while a:\n    a = b", "while False:\n    a = b"),
    ("for i in b:\n    a = i\n    b(i)\n    x = a", "for i in b:\n    x = a\n    a = i\n    b(i)"),
    ("for i in b:\n    x = a\n    b(i)\n    a = i", "for i in b:\n    b(i)\n    a = i\n    x = a"),
])
def test_statements_go_move_and_decide_otherwise(wrong, right):
    text, wanted = ("def f(a, b):\n" + indent(body, "    ") for body in (wrong, right))
    assert written(wanted) in [written(edit.text) for edit in edits(text, 1)]


@pytest.mark.parametrize("body, first, moved", [
    ("x = a()\nfor i in b:\n    x[i] = 0", "for i in b:\n    x = a()\n    x[i] = 0", "x"),
    ("x.begin()\nfor i in b:\n    x.step(i)", "for i in b:\n    x.begin()\n    x.step(i)", ""),
    ("x = a()\nfor i in b:\n    x.append(i)", "for i in b:\n    x = a()\n    x.append(i)", "x"),
    ("x, y = 0, 1\nfor i in b:\n    for j in i:\n        x = j",
     "for i in b:\n    x, y = (0, 1)\n    for j in i:\n        x = j", ""),
    ("for i in b:\n    y, z = a(i)\n    b.append(i)", "for i in b:\n    y, z = a(i)\n    b.append(z)", ""),
    ("y, z = a(i)\nreturn i, z", "y, z = a(i)\nreturn (y, z)", ""),
    ("x = 0\nfor i in b:\n    for j in i:\n        x += j",
     "for i in b:\n    x = 0\n    for j in i:\n        x += j", "x"),
])
def test_what_is_begun_once_or_made_and_never_read_is_looked_at_first(body, first, moved):
    text, wanted = ("def f(a, b, i):\n" + indent(one, "    ") for one in (body, first))
    few = [edit for _, edit in zip(range(6), edits(text, 1), strict=False)]
    assert (written(wanted), moved) in [(written(edit.text), edit.moved) for edit in few]


@pytest.mark.parametrize("loop", ["while a < n:", "for i in b:"])
def test_a_loop_ends_where_all_is_done_or_a_list_is_long_enough(loop):
    """Only variables that the loop changes may end it: a mask, or a list, whose length an argument says."""
    head = f"def f(a, b, n):\n    one, x, two = b, [], b\n    {loop}"
    text = f"{head}\n        one = a\n        x.append(n)\n    return two"
    mask = {"tensor of b with 1 axes"}
    types = {(2, 4, 2, 7): mask, (2, 9, 2, 10): {"list"}, (2, 12, 2, 15): mask, (2, 18, 2, 19): mask,
             (4, 14, 4, 15): mask, (5, 17, 5, 18): {"int"}}
    texts = [edit.text for edit in edits(text, 3, types=types)]
    ends = {"while a < n:": ["while a < n and (not one.all()):", "while a < n and (not len(x) == n):"],
            "for i in b:": ["if one.all():\n            break", "if len(x) == n:\n            break"]}[loop]
    assert all(sum(end in edited for edited in texts) == 1 for end in ends)
    assert not any("two.all()" in edited or "== a" in edited for edited in texts)


def test_what_a_check_that_fails_does_not_reach_is_only_moved():
    text = "def f(a, b):\n    if a:\n        x = b + 1\n        x = a - 1\n    return x"
    spans = {segment(text, edit.span) for edit in module.edits_of(text, [3], [], {})}
    reached = {(edit.moved, segment(text, edit.span)) for edit in module.edits_of(text, [3], [], {}, {3, 4})}
    assert {"b + 1", "a - 1", "1"} < spans
    assert {("", "x = b + 1"), ("", "x = a - 1")} < reached, "out of the block"
    assert not {"b + 1", "a - 1", "1"} & {span for _, span in reached}


def test_it_is_told_what_was_done_to_a_statement():
    text = "def f(a):\n    x = [0]\n    for i in a:\n        x = x + i\n        a(x)\n    return x"
    kinds = {(edit.kind, edit.moved, segment(text, edit.statement)) for edit in edits(text, 4)}
    assert {("drop", "x", "x = x + i"), ("move", "x", "x = x + i"), ("move", "x", "x = [0]"),
            ("edit", "", "x = x + i"), ("edit", "", "for i in a")} <= kinds
    assert all(moved == "" for kind, moved, _ in kinds if kind == "edit")


def test_a_statement_moves_past_the_next_one_that_is_no_definition():
    text = ("def f(a):\n    x = a\n    try:\n        y = x\n    finally:\n        pass\n    for z in y:\n"
            "        a = z\n    def g(b):\n        return b\n    return g")
    moves = {(segment(text, edit.statement),
              " ".join(type(node).__name__ for node in ast.parse(edit.text).body[0].body))
             for edit in edits(text, 3) if edit.kind == "move"}
    assert {("x = a", "Try Assign For FunctionDef Return"), ("try", "Assign For Try FunctionDef Return")} <= moves
    assert ("for z in y", "Assign Try FunctionDef For Return") not in moves


def test_a_loop_ends_where_a_number_is_equal_to_one_that_stays():
    text = "def f(a, b, n, m):\n    for i in b:\n        x = a + i + n\n        y.append(x)\n    return y"
    types = {(3, column, 3, column + 1): {"int"} for column in (8, 12, 16, 20)}
    ends = [edit.text for edit in edits(text, 3, types=types) if "break" in edit.text]
    assert any("x = a + i + n\n        if x == n:\n            break\n        y.append(x)" in one for one in ends)
    assert all(any(f"x == {name}:" in one for one in ends) for name in "abm"), "of b and m no value was seen"
    assert not any("n == x" in one or "x == i" in one for one in ends)


def test_a_second_name_is_given_a_copy_before_anything_begins_anew():
    text = "def f(a):\n    x = [0]\n    for i in a:\n        y = x\n        x[0] = y[0] + i"
    first = [edit.text.partition("y = ")[2].partition("\n")[0] for edit in edits(text, 5)][:3]
    assert first == ["x.clone()", "list(x)", "dict(x)"]


@pytest.mark.parametrize(("line", "first"), [
    ("y = [a[i] for i in b]", ["[a[i].clone() for i in b]", "[list(a[i]) for i in b]", "[dict(a[i]) for i in b]"]),
    ("y = [[0] * 3] * len(a)", ["[[0] * 3 for _ in range(len(a))]"]), ("y = b * [[]]", ["[[] for _ in range(b)]"]),
    ("y = [a[0]] * 3", [""]), ("y = [a + b] * 3", [""]),  # it may be a number: the line is dropped first
])
def test_of_an_object_that_a_list_may_hold_twice_copies_come_first(line, first):
    found = edits(f"def f(a, b):\n    {line}\n    return y", 2)
    texts = [edit.text.partition("y = ")[2].partition("\n")[0] for edit in found]
    assert texts[:len(first)] == first


def test_of_what_a_loop_adds_to_at_each_turn_other_changes_come_first():
    text = "def f(a, b):\n    x = 0\n    for i in b:\n        x += a(i)\n        b(x)"
    texts = [written(edit.text) for edit in edits(text, 4)]
    anew = "def f(a, b):\n    for i in b:\n        x = 0\n        x += a(i)\n        b(x)"
    assert 0 < texts.index(written(text.replace("x += a(i)", "x = a(i)"))) < texts.index(anew)


def test_a_value_is_unpacked_in_another_order_after_what_may_be_exchanged_where_it_goes_wrong():
    text = "def f(a):\n    b = a()\n    x, y, z = a(b)\n    b = x\n    return y, z"
    texts = [written(edit.text) for edit in edits(text, 5)]
    first, last = ("return y, z", "return z, y"), ("b = x", "b = y")
    reordered = ("x, y, z =", "x, z, y ="), ("x, y, z =", "z, y, x =")
    places = [texts.index(written(text.replace(*one))) for one in (first, *reordered, last)]
    assert places == sorted(places)


def test_what_is_thrown_away_stands_for_nothing():
    texts = [edit.text for edit in edits("def f(a):\n    _, b = a\n    return b", 3)]
    assert any("return a" in one for one in texts) and not any("return _" in one for one in texts)


def test_what_is_stored_and_never_read_is_combined_with_what_comes_after_it():
    text = "def f(a, b):\n    c = a.g()\n    _ = 3\n    d = b.g()\n    return h(d)"
    texts = [written(edit.text) for edit in edits(text, 5)]
    for argument in ("d + c", "d * c", "d - c"):
        assert written(text.replace("(d)", f"({argument})")) in texts, argument
    assert written(text.replace("b.g", "(b + c).g")) in texts and "a + c" not in "".join(texts)
    assert not any(f"{operator} _" in one for one in texts for operator in "+*-"), "it is thrown away"


def test_what_a_loop_leaves_alone_is_not_begun_in_it_and_no_result_is_thrown_away_first():
    text = "def f(a, b):\n    x = a()\n    for i in b:\n        y = x + i\n    return y"
    assert "x = a()" not in next(edits(text, 2)).text, "the first edit drops it"
    text = "def f(a, b):\n    y = a(b)\n    z = y\n    return y, b"
    assert written(next(edit for edit in edits(text, 1) if edit.span[0] != 3).text) == written(
        text.replace("y, b", "z, b")), "z is not made from itself"


def test_every_text_is_another_and_the_nearest_come_first():
    text = BODY.lstrip()
    texts = [written(edit.text) for edit in edits(text, 5)]
    assert len(texts) == len({*texts, written(text)}) - 1 > 200
    assert sorted(texts) == sorted(written(edit.text) for edit in edits(text, 2)), "only the order hangs on the line"
    (anew,) = (edit for edit in edits(text, 7) if edit.moved == "total" and "\n        total = 0" in edit.text)
    assert next(edits(text, 7)) == anew, "few, and often right"
    for line in (2, 4, 7):
        assert next(edit for edit in edits(text, line) if edit != anew).span[0] == line
    late = [edit.span[0] for edit in edits(text, 5, matched_lines=[5])][1:]
    assert late[0] != 5 and 5 in late


def test_each_edit_changes_the_place_that_it_names_and_nothing_else():
    """An edit that is not undone would stand in all texts after it."""
    text = BODY.lstrip()
    lines = [line.strip() for line in written(text).splitlines()]
    for edit in edits(text, 5):
        left = {line.strip() for line in written(edit.text).splitlines()}
        changed = [number for number, line in enumerate(lines, 1) if line not in left]
        assert all(edit.span[0] <= number <= edit.span[2] for number in changed), edit.text


def test_numbers_are_not_made_tensors_again():
    """Each of these is another key of a dict: a mistake with equal keys would be worked around."""
    texts = {edit.text.partition("return ")[2] for edit in edits("def f(x):\n    return x.tolist(), x.detach()", 2)}
    assert "(x.tolist(), x)" in texts and "(x, x.detach())" not in texts


def test_a_name_stands_for_those_of_its_type():
    """Where nothing is known of one of the two, it may be any."""
    text = "def f(x, y, n, z):\n    self.a, self.b, self.c\n    y, n\n    return x + self.a"

    def names(types, start):
        spans = {(3, 4, 3, 5): {"array", "other array"}, (3, 7, 3, 8): {"int"}, (2, 12, 2, 18): {"array"},
                 (2, 20, 2, 26): {"int"}}
        last = [ast.parse(one.text).body[0].body[-1].value for one in edits(text, 4, types={**spans, **types})
                if one.span[:2] == start and one.span[2:] == (4, start[1] + (1 if start[1] == 11 else 6))]
        return {ast.unparse(one.left if start[1] == 11 else one.right) for one in last
                if isinstance(one, ast.BinOp) and isinstance(one.op, ast.Add)}

    x, attribute = (4, 11, 4, 12), (4, 15, 4, 21)
    assert {"y", "n", "z"} <= names({}, x[:2])
    assert names({x: {"array"}}, x[:2]) & {"y", "n", "z"} == {"y", "z"}
    assert names({x: {"int"}}, x[:2]) & {"y", "n", "z"} == {"n", "z"}
    assert names({attribute: {"int"}}, attribute[:2]) & {"self.b", "self.c"} == {"self.c"}
    assert names({}, attribute[:2]) & {"self.b", "self.c"} == {"self.b", "self.c"}


def test_an_expression_lacks_what_suits_its_values():
    text, x = "def f(x, y):\n    return x", (2, 11, 2, 12)

    def wrapped(*types):
        returned = {one.text.partition("return ")[2] for one in edits(text, 2, types={x: types} if types else {})}
        return returned & {"-x", "not x", "x.T", "x[1:]"}

    assert wrapped() == {"-x", "not x", "x.T", "x[1:]"}
    assert wrapped("int") == wrapped("bool") == {"-x", "not x"} and wrapped("list") == {"not x", "x[1:]"}
    assert wrapped("tensor of f with 2 axes") == {"-x", "x.T", "x[1:]"}
    assert wrapped("float", "list") == {"-x", "not x", "x[1:]"}


@pytest.mark.parametrize("text", ["def f(:", "x = 1", "", "def f(x):\n    '''Says.'''", "\0",
                                  "def f(x):\n    return open(x)", "def f(x):\n    import os\n    os.remove(x)",
                                  "def f(x):\n    raise ValueError(x + 1)"])
def test_what_is_no_function_of_ones_own_or_reaches_files_is_not_edited(text):
    assert list(edits(text, 1)) == []


def test_lines_are_those_of_the_cell():
    text = "import math\nSIZE = 3\n\n\nclass Net:\n    def forward(self, x):\n        return self.one(self.two)\n"
    matching = [edit for edit in edits(text, 99) if "self.two(self.two)" in edit.text]
    assert [segment(text, edit.span) for edit in matching] == ["self.one"]
    assert "SIZE" not in matching[0].text, "only what is defined is run again"


def test_a_statement_that_shares_a_line_is_edited_with_its_function():
    text = ("def f(x, y):\n    if x: y = 1\n    elif y:  # why\n        y = 2; x = 3\n    else: x = 4\n"
            "    y += x  # é\n    return y, 'é'  ; x\n")
    found = list(edits(text, 4))
    trees = [ast.dump(ast.parse(edit.text)) for edit in found]
    assert len({*trees, ast.dump(ast.parse(text))}) == len(found) + 1, "each changes something else"
    assert {edit.span[0] for edit in found if "# why" in edit.text} == {6}, "it has its line for itself"
    assert any("y -= x\n    return" in edit.text for edit in edits(text, 6))


def test_a_cell_keeps_its_indentation_and_what_stands_around_a_function():
    text = "x = 3\nclass A:\n\t@property\n\tdef f(self):\n\t\treturn 1\n\n\tdef g(self):\n\t\treturn (\n2)\ny = 4\n"
    new_texts = [edit.text for edit in edits(text, 5)]
    assert {"\nclass A:\n\t@property\n\tdef f(self):\n\t\treturn 2\n\n\tdef g(self):\n\t\treturn (\n2)\n",
            "\nclass A:\n\t@property\n\tdef f(self):\n\t\treturn 1\n\n\tdef g(self):\n\t\treturn 3\n"} <= {*new_texts}
    assert all(compile(new_text, "", "exec") for new_text in new_texts)


def test_unread_are_variables_of_the_function_itself_from_their_first_store_on():
    text = ("def f(self, a, *args, k=1, **kw):\n    c = 0\n    d = [i for j in a]\n    e = lambda q: 1\n"
            "    for i in d:\n        c = e(i)\n    def g(n):\n        m = n\n    return d\n")
    function = next(statements_of(ast.parse(text), {})).function
    assert function.unread == {"k": 1, "c": 2}
    calls = [edit.text for edit in edits("def f(a, b):\n    c = a\n    return b(a)", 3)]
    assert any("b(a) + c" in one for one in calls) and not any("(b + c)" in one for one in calls)


def test_of_a_variable_that_is_stored_again_the_uses_between_count():
    text = "def f(a):\n    c = a.g()\n    d = a.h()\n    for i in a:\n        c = i\n    return d"
    assert written(text.replace("a.h()", "a.h() + c")) in [written(edit.text) for edit in edits(text, 3)]
