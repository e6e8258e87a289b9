# Returns a list of three million numbers.
# costs: kernel
# wall: descriptions
def double(x):
    return [0] * 3_000_000
