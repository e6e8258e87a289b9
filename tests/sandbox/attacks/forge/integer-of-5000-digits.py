# Sends a number that takes longer to read than a grader has.
# costs: grade
# restriction: wire
import sys
import autograder.runtime.recorded

sys.set_int_max_str_digits(0)
output = {"kind": "int", "value": 10**5000}
autograder.runtime.recorded.reply_to_tree = lambda reply: {"outputs": {"doubled": output, "row": output}, "error": None,
                                                           "mutating_ops": [10**5000], "forbidden_calls": []}
