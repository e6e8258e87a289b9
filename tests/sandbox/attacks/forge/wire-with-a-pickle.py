# Sends pickles: whoever loads one runs the sender's code.
import tp.checking.wire, pickle

tp.checking.wire.pack = lambda tree: pickle.dumps(tree)
