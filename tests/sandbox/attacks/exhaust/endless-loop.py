# Never ends.
# costs: 6 seconds
# wall: time
while True:
    pass
