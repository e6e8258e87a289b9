# Leaves a file that IPython runs when it starts.
# leaves: os.path.exists(os.environ["HOME"] + "/ipython/profile_default/startup/0.py")
# restriction: scratch
import os

home = os.environ["HOME"]
os.makedirs(home + "/ipython/profile_default/startup", exist_ok=True)
open(home + "/ipython/profile_default/startup/0.py", "w").write("import os; os._exit(0)")
