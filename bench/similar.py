"""Made classes in which we know who worked together: what `autograder similar` shows of it, and what it misses."""

import ast
import io
import tokenize
from itertools import combinations

import numpy as np

from autograder.classroom import similar
from autograder.classroom.similar import ComparedSubmission, Comparison, Student
from autograder.course import find
from autograder.model import faults, loading
from autograder.model.source import load_source

TITLE = "Similar submissions"
ALONE = 36
KINDS = ("renamed", "re-commented", "reordered", "edited", "split between two")
FIRST, CLASSES = 1000, 5  # classes of each TP, drawn from seeds that nothing was tuned on


class Hand(ast.NodeTransformer):
    """Another hand: the same program with other expressions, at each place with probability ``p``."""

    def __init__(self, rng, p):
        self.rng, self.p, self.count = rng, p, 0

    def likes(self):
        return self.rng.random() < self.p

    def name(self):
        self.count += 1
        return f"value{self.count}"

    def visit_Return(self, node):
        self.generic_visit(node)
        if isinstance(node.value, ast.Call | ast.BinOp | ast.Tuple) and self.likes():
            name = self.name()
            return [self.assign(name, node.value), ast.Return(ast.Name(name))]
        return node

    def visit_Assign(self, node):
        self.generic_visit(node)
        target, value = node.targets[0], node.value
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and self.likes():
            return [ast.Assign([one], other) for one, other in zip(target.elts, value.elts, strict=True)]
        if isinstance(value, ast.Call) and value.args and isinstance(value.args[0], ast.Call) and self.likes():
            name = self.name()
            inner, value.args[0] = value.args[0], ast.Name(name)
            return [self.assign(name, inner), node]
        if isinstance(value, ast.BinOp) and isinstance(value.right, ast.Call | ast.BinOp) and self.likes():
            name = self.name()
            inner, value.right = value.right, ast.Name(name)
            return [self.assign(name, inner), node]
        return node

    def visit_Call(self, node):
        self.generic_visit(node)
        for keyword in [one for one in node.keywords if one.arg == "dim"]:
            if self.likes() and len(node.args) == 1:
                node.keywords.remove(keyword)
                node.args.append(keyword.value)
        function = node.func
        if isinstance(function, ast.Attribute) and function.attr in ("argmax", "sum", "mean", "all", "matmul", "bmm"):
            module = isinstance(function.value, ast.Name) and function.value.id in ("torch", "F", "np")
            if not module and self.likes():
                return ast.Call(ast.Attribute(ast.Name("torch"), function.attr), [function.value, *node.args],
                                node.keywords)
        return node

    def visit_Subscript(self, node):
        self.generic_visit(node)
        shape = isinstance(node.value, ast.Attribute) and node.value.attr == "shape"
        if shape and isinstance(node.slice, ast.Constant) and self.likes():
            return ast.Call(ast.Attribute(node.value.value, "size"), [node.slice], [])
        return node

    def visit_For(self, node):
        self.generic_visit(node)
        ranged = isinstance(node.iter, ast.Call) and getattr(node.iter.func, "id", "") == "range"
        if ranged and len(node.iter.args) == 1 and isinstance(node.target, ast.Name) and self.likes():
            if any(isinstance(one, ast.Continue) for one in ast.walk(node)):
                return node
            step = ast.parse(f"{node.target.id} += 1").body
            test = ast.Compare(ast.Name(node.target.id), [ast.Lt()], node.iter.args)
            return [self.assign(node.target.id, ast.Constant(0)), ast.While(test, [*node.body, *step], [])]
        return node

    def visit_BinOp(self, node):
        self.generic_visit(node)
        if isinstance(node.op, ast.Add | ast.Mult | ast.BitOr | ast.BitAnd) and self.likes():
            node.left, node.right = node.right, node.left
        return node

    def visit_FunctionDef(self, node):
        self.generic_visit(node)
        at = 1 if ast.get_docstring(node) else 0
        arguments = [one.arg for one in node.args.args if one.arg != "self"]
        if arguments and node.name != "__init__" and self.likes():
            first = arguments[0]
            own = (f"assert {first}.dim() == 3", f"print({first}.shape)", f"B = {first}.size(1)",
                   f"device = {first}.device", f"steps = len({first})", f"{first} = {first}.clone()")
            node.body[at:at] = ast.parse(str(self.rng.choice(own))).body
        return node

    @staticmethod
    def assign(name, value):
        return ast.Assign([ast.Name(name)], value)


def in_another_hand(rng, text, p):
    return ast.unparse(ast.fix_missing_locations(Hand(rng, p).visit(ast.parse(text))))


def renamed(rng, text):
    """Every name that the code itself binds gets another one."""
    tree = ast.parse(text)
    bound = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    names = dict(zip(sorted(bound), rng.permutation([f"{one}{i}" for i, one in enumerate(bound)]), strict=True))
    tokens = [(kind, str(names.get(word, word)) if kind == tokenize.NAME else word)
              for kind, word, *_ in tokenize.generate_tokens(io.StringIO(text).readline)]
    return tokenize.untokenize(tokens)


def commented(rng, text):
    """Without the comments that are there, and with others."""
    lines = []
    for line in ast.unparse(ast.parse(text)).split("\n"):
        if line.strip() and rng.random() < 0.4:
            lines.append(f"{line[: len(line) - len(line.lstrip())]}# step {rng.integers(1000)}: what comes next")
        lines.append(line)
    return "\n".join(lines)


def reordered(rng, text):
    """Methods in another order, and neighbouring statements of which neither needs the other's names."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            methods = [one for one in node.body if isinstance(one, ast.FunctionDef)]
            node.body = [one for one in node.body if one not in methods] + methods[::-1]
        elif isinstance(node, ast.FunctionDef):
            for i in range(len(node.body) - 1):
                first, second = node.body[i : i + 2]
                assigned = isinstance(first, ast.Assign) and isinstance(second, ast.Assign)
                if assigned and not names(first) & names(second):
                    node.body[i : i + 2] = second, first
    return ast.unparse(tree)


def names(node):
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)} - {"self", "torch", "F", "nn"}


def disguised(rng, work, kind):
    """The work of somebody else, as it is handed in."""
    change = {"renamed": renamed, "re-commented": commented, "reordered": reordered,
              "edited": lambda rng, text: in_another_hand(rng, text, 0.1)}.get(kind, renamed)
    return {exercise: change(rng, text) for exercise, text in work.items()}


def made_class(rng, course, session):
    """Submissions of a class, and who copied from whom: kind → pairs of places."""
    source = load_source(course, session)
    wrong, variants = loading.versions_of(source)
    works = []
    for i in range(ALONE):
        code, made = {}, set()
        for exercise in source.exercises:
            solution = source.cell("exercise", exercise).solution
            pools = [[one for one in many if one.exercise == exercise] for many in (variants, wrong)]
            draw = rng.random()
            pool = pools[0] if draw < 0.25 else pools[1] if draw < 0.5 else []
            version = pool[int(len(pool) * rng.random() ** 2)] if pool else None  # the first ones are frequent
            text = faults.edited(version, solution) if version else solution
            made |= {(exercise, version.name)} if version in wrong else set()
            try:
                code[exercise] = in_another_hand(rng, text, 0.35)
            except SyntaxError:  # some faults are no Python
                code[exercise] = text
        works.append(ComparedSubmission(Student(f"alone-{i}"), code, frozenset(made)))
    copies = {}
    for kind in KINDS:
        sources = rng.choice(ALONE, 2 if kind == "split between two" else 1, replace=False)
        parts = {exercise: works[sources[k % len(sources)]] for k, exercise in enumerate(source.exercises)}
        code = {}
        for exercise, work in parts.items():
            try:
                code |= disguised(rng, {exercise: work.code[exercise]}, kind)
            except SyntaxError:
                code[exercise] = work.code[exercise]
        made = {fault for exercise, work in parts.items() for fault in work.faults if fault[0] == exercise}
        copies[kind] = {(int(one), len(works)) for one in sources}
        works.append(ComparedSubmission(Student(kind), code, frozenset(made)))
    return works, copies


def measure(quick, repeats, folder):
    course, rows = find(), []
    for session in course.sessions:
        found = {kind: [0, 0] for kind in KINDS}
        shown = right = 0
        for seed in range(FIRST, FIRST + (1 if quick else CLASSES)):
            works, copies = made_class(np.random.default_rng(seed), course, session)
            comparison = Comparison(works, similar.boilerplate(course, session))
            pairs = {(i, j) for i, j, _ in comparison.outliers()}
            true = set().union(*copies.values())
            true |= {(one, other) for (left, one), (right, other) in combinations(sorted(true), 2)
                     if left == right}  # two copies of one piece of work are a pair, too
            shown, right = shown + len(pairs), right + len(pairs & true)
            for kind, own in copies.items():
                found[kind][0] += len(own & pairs)
                found[kind][1] += len(own)
        rows.append({"tp": session, "shown": shown, "right": right, "found": found})
    return {"rows": rows, "classes": 1 if quick else CLASSES}


def report(results, picture):
    rows, kinds = results["rows"], list(results["rows"][0]["found"])
    text = (f"Results of `autograder similar` on simulated classes of {ALONE} who wrote alone and {len(kinds)} who "
            f"copied: {results['classes']} classes for each session, on which nothing was tuned. A student who wrote "
            "alone hands in the solution, a variant or a known fault, of which a program changes expressions and "
            "statements at random. A student who copied disguises the copy. *Precision* is the share of "
            "shown pairs that are copies, *recall* the share of copies that are shown, also for each disguise.\n\n"
            f"| session | pairs shown | precision | recall | {' | '.join(kinds)} |\n"
            f"|---|---|---|---|{'---|' * len(kinds)}\n")
    for row in [*rows, total(rows)]:
        found = row["found"]
        hit, all_of = (sum(one[k] for one in found.values()) for k in (0, 1))
        text += (f"| {row['tp']} | {row['shown']} | {share(row['right'], row['shown'])} | {share(hit, all_of)} | "
                 f"{' | '.join(share(*one) for one in found.values())} |\n")
    return text


def total(rows):
    found = {kind: [sum(row["found"][kind][k] for row in rows) for k in (0, 1)] for kind in rows[0]["found"]}
    return {"tp": "all", "shown": sum(row["shown"] for row in rows), "right": sum(row["right"] for row in rows),
            "found": found}


def share(part, whole):
    return f"{part / whole:.2f}" if whole else "–"
