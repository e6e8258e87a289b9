# Writes into every folder that it can think of.
# leaves: os.path.exists("/mine")
# restriction: read-only
import os

for folder in ("/", "/usr", "/etc", "/srv", "/root", "/course", "/course/tp", "/home", "/var", "/opt"):
    try:
        open(folder + "/mine", "w").write("x")
    except OSError:
        pass
