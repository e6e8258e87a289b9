# Starts processes without end.
# costs: 60 processes
# restriction: processes
import os

while True:
    os.fork()
