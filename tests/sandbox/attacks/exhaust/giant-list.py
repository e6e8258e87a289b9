# Returns a list of three million numbers.
def double(x):
    return [0] * 3_000_000
