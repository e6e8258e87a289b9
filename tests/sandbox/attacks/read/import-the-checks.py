# Imports the checks by way of the grader.
from autograder.authoring.modules import module_of
from autograder.course import find

module_of(find(), "tp0_tiny", "checks")
