# Returns complex numbers, whose real part is nothing.
def double(x):
    return x * 1j
