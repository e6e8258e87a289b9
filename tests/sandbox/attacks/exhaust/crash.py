# Crashes the interpreter.
import ctypes

ctypes.string_at(0)
