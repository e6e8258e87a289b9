# Returns infinities.
# gains: points
# wall: finite
def double(x):
    return x * float("inf")
