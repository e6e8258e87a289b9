# Sends a message whose header is longer than the message.
# costs: grade
# wall: wire
import tp.checking.wire

tp.checking.wire.pack = lambda tree: b"TPW1" + b"\xff" * 100
