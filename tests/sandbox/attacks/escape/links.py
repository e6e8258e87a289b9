# Links to files outside the scratch.
import os

os.symlink("/etc/passwd", "link")
os.link("/kernel.py", "hard")
