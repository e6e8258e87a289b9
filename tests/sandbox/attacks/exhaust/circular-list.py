# Returns a list that holds itself.
# costs: kernel
# wall: descriptions
def double(x):
    result = []
    result.append(result)
    return result
