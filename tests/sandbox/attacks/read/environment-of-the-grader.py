# Prints the environment of every process: a secret may stand in one.
import glob

for f in glob.glob("/proc/*/environ"):
    print(open(f, "rb").read())
