# Leaves as a program does.
raise SystemExit
