"""What each command of `autograder` does and prints; `autograder.cli` has the command line itself."""
