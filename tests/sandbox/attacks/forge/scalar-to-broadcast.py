# Returns one number, which broadcasts against any shape.
def double(x):
    return x.sum()
