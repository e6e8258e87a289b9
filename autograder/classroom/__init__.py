"""Grade a class: verdicts, pages, exports, and nbgrader with the judge plugged in."""

import autograder.model  # noqa: F401 - before nbformat, see there
