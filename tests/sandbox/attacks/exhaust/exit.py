# Ends the kernel.
import os

os._exit(0)
