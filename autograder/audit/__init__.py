"""Audit the checks: known faults, right variants, mutants, misdiagnoses."""

from dataclasses import dataclass, field


@dataclass
class AuditResult:
    """The outcome of one part of an audit, of a session.

    What was audited, in words; problems and notes, a line each; and numbers that are added up over sessions.
    """

    lines: list[str]
    problems: list[str] = field(default_factory=list)
    numbers: dict[str, float] = field(default_factory=dict)  # column of the table of all sessions → number
    notes: list[str] = field(default_factory=list)
