# Crashes the interpreter.
# costs: grade
# restriction: together
import ctypes

ctypes.string_at(0)
