"""Time limits for the parts of a submission; a slower one is set aside, so that the class need not wait.

It is judged later from its beginning, so that no grade depends on its pace.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

# A part may take max(PART_FACTOR × its seconds, WHOLE_SHARE × the seconds of all parts, MIN_SECONDS).
PART_FACTOR, WHOLE_SHARE, MIN_SECONDS = 3.0, 0.5, 0.3


@dataclass(frozen=True)
class Pace:
    """The seconds of each part of a submission in which all is right, and of all parts together."""

    parts: Mapping[str, float] = field(default_factory=dict)

    @property
    def whole(self) -> float:
        """The seconds that a whole submission may take."""
        return max(MIN_SECONDS, PART_FACTOR * sum(self.parts.values()))

    def soft_limit(self, part: str) -> float:
        """Return the seconds that a part may take."""
        return max(PART_FACTOR * self.parts.get(part, 0.0), WHOLE_SHARE * sum(self.parts.values()), MIN_SECONDS)
