# Lists the keys and the homes of people.
import os, glob

print(glob.glob(os.path.expanduser("~/.ssh/*")), glob.glob("/root/*"), glob.glob("/home/*/*"))
