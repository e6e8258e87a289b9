"""The sign and the words for each outcome of the judge; every font has these signs."""

SIGNS = {"passed": "✓", "partial": "◐", "failed": "✗", "missing": "–", "error": "!", "timeout": "∞", "crashed": "†"}
WORDS = {"passed": "right", "partial": "in part", "failed": "not right yet", "missing": "not written",
         "error": "stops with an error", "timeout": "took too long", "crashed": "crashed"}
