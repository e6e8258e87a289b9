# Names an array in its message that does not come with it.
# costs: grade
# restriction: wire
import json, struct
import autograder.runtime.wire

header = json.dumps({"body": {"$array": 7}, "arrays": []}).encode()
autograder.runtime.wire.pack = lambda tree: b"TPW1" + struct.pack("<I", len(header)) + header
