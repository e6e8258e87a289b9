"""Time limits for the parts of a submission; a slower one is set aside, so that the class need not wait.

It is judged later from its beginning, so that no grade depends on its pace.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

TIMES, SHARE, LEAST = 3.0, 0.5, 0.3  # a part may take the most of: TIMES its seconds, SHARE of the whole, LEAST
LOOSE = 5.0  # times the whole, when it is judged a second time


@dataclass(frozen=True)
class Pace:
    """The seconds of each part of a submission in which all is right, and of all parts together."""

    parts: Mapping[str, float] = field(default_factory=dict)
    loose: bool = False

    @property
    def whole(self) -> float:
        """Return the seconds that a whole submission may take."""
        return max(LEAST, (LOOSE if self.loose else TIMES) * sum(self.parts.values()))

    def patience(self, part: str) -> float:
        """Return the seconds that a part may take."""
        whole = sum(self.parts.values())
        return self.whole if self.loose else max(TIMES * self.parts.get(part, 0.0), SHARE * whole, LEAST)
