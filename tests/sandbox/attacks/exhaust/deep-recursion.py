# Calls itself without end, where Python no longer counts.
import sys

sys.setrecursionlimit(10**9)


def f():
    return f()


f()
