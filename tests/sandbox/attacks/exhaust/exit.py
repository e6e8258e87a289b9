# Ends the kernel.
# costs: grade
# wall: together
import os

os._exit(0)
