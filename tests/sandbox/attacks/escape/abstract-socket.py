# Connects to a socket that has a name and no file.
# reaches: name
# restriction: network
import socket

with socket.socket(socket.AF_UNIX) as line:
    line.connect("\0marked-47113")
    line.sendall(b"it is me")
