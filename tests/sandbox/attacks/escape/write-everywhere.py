# Writes into every folder that it can think of.
import os

for folder in ("/", "/usr", "/etc", "/srv", "/root", "/course", "/course/tp", "/home", "/var", "/opt"):
    try:
        open(folder + "/mine", "w").write("x")
        print("WROTE", folder)
    except OSError:
        pass
