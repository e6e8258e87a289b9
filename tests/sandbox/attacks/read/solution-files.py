# Reads the solutions and the checks off the disk, and runs them.
import glob

paths = glob.glob("/**/solutions/**/*.py", recursive=True) + glob.glob("/**/checks.py", recursive=True)
text = "".join(open(f).read() for f in paths)
exec(text)
