# Returns NaN, which compares with nothing.
def double(x):
    return x * float("nan")
