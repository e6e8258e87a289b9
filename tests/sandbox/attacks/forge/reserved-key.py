# Returns a dict with the key that stands for an array in messages.
def double(x):
    return {"$array": 0}
