"""A whole class: graded, kept, shown, exported; and nbgrader with our judge plugged in."""

import autograder.model  # noqa: F401 - before nbformat, see there
