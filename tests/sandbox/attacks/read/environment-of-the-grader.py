# Prints the environment of every process: a secret may stand in one.
# sees: the mark
# restriction: environment
import os

raise RuntimeError([value for value in os.environ.values() if "marked" in value])
