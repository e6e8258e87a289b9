"""The engine that makes a course from its sources, and grades what comes back.

Notebooks use ``autograder.runtime``; everything else is behind the command ``autograder``.
"""

from pathlib import Path

__all__ = ["AutograderError", "__version__"]

__version__ = "4.0.0"
ENGINE_FOLDER = Path(__file__).parent


class AutograderError(Exception):
    """A command cannot do what it was asked; the message is one line for people."""
