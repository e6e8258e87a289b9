"""Wrong and right versions of a solution, as the module of each TP lists them (see docs/authoring.md)."""

from dataclasses import dataclass


class EditError(ValueError):
    """A mistake or variant does not fit the solution it edits."""


@dataclass(frozen=True)
class Mistake:
    """A wrong version that learners write, and what a good teacher says about it."""

    exercise: str
    name: str
    says: str
    swap: tuple | list = ()
    source: str | None = None
    both: tuple = ()


@dataclass(frozen=True)
class Variant:
    """A right version that looks different from the solution."""

    exercise: str
    name: str
    swap: tuple | list = ()
    source: str | None = None
    both: tuple = ()


def swaps(version, others) -> list[tuple[str, str]]:
    """The edits of a version in order; ``others`` are the versions that ``both`` may name."""
    if version.both:
        by_name = {other.name: other for other in others if other.exercise == version.exercise}
        return [edit for name in version.both for edit in swaps(by_name[name], others)]
    return [version.swap] if version.swap and isinstance(version.swap[0], str) else list(version.swap)


def edited(version, solution: str, others=()) -> str:
    """The source of the exercise's cell in this version."""
    if version.source is not None:
        return version.source
    edits = swaps(version, others)
    if not edits:
        raise EditError(f"{version.exercise}/{version.name} changes nothing")
    for old, new in edits:
        if solution.count(old) != 1:
            raise EditError(f"{version.exercise}/{version.name}: {old!r} stands {solution.count(old)} times in the solution, it must stand once")
        solution = solution.replace(old, new)
    return solution
