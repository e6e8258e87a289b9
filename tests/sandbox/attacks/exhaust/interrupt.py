# Stops as if somebody had interrupted it.
raise KeyboardInterrupt
