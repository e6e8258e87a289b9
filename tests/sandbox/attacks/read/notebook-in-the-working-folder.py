# Runs whatever lies in the working folder, and looks around it.
import os, glob

[exec(open(f).read()) for f in os.listdir(".")]
print(glob.glob("../**"))
