# Imports the grader, and asks it for the solution.
# gains: points
# restriction: files
from pathlib import Path

from autograder.model.source import load_source
from autograder.course import Course

exec(load_source(Course(Path("/course")), "tp0_tiny").cell("exercise", "double").solution)
