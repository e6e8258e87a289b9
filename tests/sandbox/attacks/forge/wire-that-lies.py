# Sends a message whose header is longer than the message.
# costs: grade
# restriction: wire
import autograder.runtime.wire

autograder.runtime.wire.pack = lambda tree: b"TPW1" + b"\xff" * 100
