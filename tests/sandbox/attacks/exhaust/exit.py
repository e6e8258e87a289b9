# Ends the kernel.
# costs: grade
# restriction: together
import os

os._exit(0)
