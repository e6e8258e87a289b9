# Lists all processes and how they were called.
import subprocess

print(subprocess.run("ps aux; cat /proc/*/cmdline", shell=True, capture_output=True).stdout)
