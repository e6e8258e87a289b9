# Returns infinities.
def double(x):
    return x * float("inf")
