# Returns a list of three million numbers.
# costs: kernel
# restriction: descriptions
def double(x):
    return [0] * 3_000_000
