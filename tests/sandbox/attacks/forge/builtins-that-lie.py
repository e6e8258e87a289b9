# Makes every isinstance true and every length one.
import builtins

builtins.isinstance = lambda *a: True
builtins.len = lambda x: 1
