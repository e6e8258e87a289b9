# Returns a list in a list, a hundred thousand deep.
# costs: kernel
# wall: descriptions
def double(x):
    result = []
    for _ in range(100_000):
        result = [result]
    return result
