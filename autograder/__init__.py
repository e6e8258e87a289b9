"""The engine that makes a course from its sources, and grades what comes back."""
