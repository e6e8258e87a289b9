# Crashes the interpreter.
# costs: grade
# wall: together
import ctypes

ctypes.string_at(0)
