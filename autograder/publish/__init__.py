"""Generate the files of a course: releases, self-checks, the student kit, editions, wheels."""

import autograder.model  # noqa: F401 - before nbformat, see there
