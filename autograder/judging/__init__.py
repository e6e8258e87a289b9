"""From a submission to its verdict."""

import autograder.model  # noqa: F401 - before nbformat, see there
