# Never ends.
# costs: 6 seconds
# restriction: time
while True:
    pass
