"""What the author of a session imports: `check` for checks.py, `Fault` and `Variant` for faults.py and variants.py."""

from .model.faults import Fault, Variant
from .model.trace import check

__all__ = ["Fault", "Variant", "check"]
