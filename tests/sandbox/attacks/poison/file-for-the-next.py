# Leaves files where the next kernel looks.
# leaves: os.path.exists("/scratch/next.py")
# restriction: scratch
import os

open("/scratch/next.py", "w").write("x")
os.makedirs("/scratch/matplotlib/x", exist_ok=True)
