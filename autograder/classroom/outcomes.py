"""How an outcome of the judge is shown: a sign that every font has, and words."""

SIGNS = {"passed": "✓", "partial": "◐", "failed": "✗", "missing": "–", "error": "!", "timeout": "∞", "crashed": "†"}
WORDS = {"passed": "right", "partial": "in part", "failed": "not right yet", "missing": "not written",
         "error": "stops with an error", "timeout": "took too long", "crashed": "crashed"}
