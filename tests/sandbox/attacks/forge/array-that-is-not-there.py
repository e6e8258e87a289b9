# Names an array in its message that does not come with it.
# costs: grade
# wall: wire
import json, struct
import tp.checking.wire

header = json.dumps({"body": {"$array": 7}, "arrays": []}).encode()
tp.checking.wire.pack = lambda tree: b"TPW1" + struct.pack("<I", len(header)) + header
