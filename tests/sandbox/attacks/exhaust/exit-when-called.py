# Ends the kernel when it is called.
def double(x):
    import os

    os._exit(0)
