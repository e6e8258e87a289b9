"""The engine that makes a course from its sources, and grades what comes back.

Notebooks use ``autograder.runtime``; everything else is behind the command ``autograder``.
"""

__all__ = ["__version__"]

__version__ = "4.0.0"
