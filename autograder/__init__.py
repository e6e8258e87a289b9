"""The engine that makes a course from its sources, and grades what comes back."""

import sys

# Where it finds this, jsonschema compiles a grammar for a format that no notebook has: two seconds of every start.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
