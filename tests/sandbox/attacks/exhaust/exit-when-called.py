# Ends the kernel when it is called.
# costs: grade
# restriction: together
def double(x):
    import os

    os._exit(0)
