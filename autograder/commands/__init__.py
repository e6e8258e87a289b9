"""The commands of `autograder` and their output; `autograder.cli` parses the command line."""
