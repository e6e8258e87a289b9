# Never returns.
# costs: 6 seconds
# wall: time
def double(x):
    while True:
        pass
