# Never returns.
# costs: 6 seconds
# restriction: time
def double(x):
    while True:
        pass
