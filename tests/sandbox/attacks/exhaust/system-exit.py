# Leaves as a program does.
# costs: grade
# wall: together
raise SystemExit
