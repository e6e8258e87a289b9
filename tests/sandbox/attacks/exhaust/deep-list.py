# Returns a list in a list, a hundred thousand deep.
# costs: kernel
# restriction: descriptions
def double(x):
    result = []
    for _ in range(100_000):
        result = [result]
    return result
