# Returns a list that holds itself.
# costs: kernel
# restriction: descriptions
def double(x):
    result = []
    result.append(result)
    return result
