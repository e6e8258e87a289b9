# Connects to this machine's own ports.
# reaches: port
# restriction: network
import socket

socket.create_connection(("127.0.0.1", 47113), 1).sendall(b"it is me")
