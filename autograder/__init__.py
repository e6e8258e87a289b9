"""The engine that makes a course from its sources, and grades what comes back."""

__version__ = "3.0.0"
