# Stops as if somebody had interrupted it.
# costs: grade
# wall: together
raise KeyboardInterrupt
