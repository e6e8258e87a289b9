# Links to files outside the scratch, and reads them by way of the link.
# sees: the mark
# restriction: files
import os

os.symlink("/course/grader/home/.ssh/id_ed25519", "link")
raise RuntimeError(open("link").read())
