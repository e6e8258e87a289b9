"""Generate the files of a course: releases, self-checks, the student kit, notebooks that stand alone, wheels."""

import autograder.model  # noqa: F401 - before nbformat, see there
