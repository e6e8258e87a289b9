# Stops as if somebody had interrupted it.
# costs: grade
# restriction: together
raise KeyboardInterrupt
