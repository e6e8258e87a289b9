# Calls itself without end, where Python no longer counts.
# costs: 2300 MiB
# restriction: memory
import sys

sys.setrecursionlimit(10**9)


def f():
    return f()


f()
