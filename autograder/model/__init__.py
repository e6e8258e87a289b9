"""The content of a course: its source, its checks, and the solution as their oracle."""

import sys

# Where it finds this, jsonschema compiles a grammar for a format that no notebook has: two seconds of every start.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
