# Leaves files where the next kernel looks.
import os

open("/scratch/next.py", "w").write("x")
os.makedirs("/scratch/matplotlib/x", exist_ok=True)
