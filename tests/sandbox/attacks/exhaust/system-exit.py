# Leaves as a program does.
# costs: grade
# restriction: together
raise SystemExit
