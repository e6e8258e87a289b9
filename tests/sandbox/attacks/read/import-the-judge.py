# Imports the grader, and asks it for the solution.
# gains: points
# restriction: files
from pathlib import Path

from autograder.model import source
from autograder.course import Course

exec(source.load(Course(Path("/course")), "tp0_tiny").cell("exercise", "double").solution)
