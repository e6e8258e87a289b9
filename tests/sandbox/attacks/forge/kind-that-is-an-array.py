# Sends arrays and lists where the kind of an output or an error is a word.
# costs: grade
# restriction: schema
import numpy
import autograder.runtime.recorded

output, error = {"kind": numpy.ones(3)}, {"kind": ["raised"], "type": numpy.ones(3), "message": [], "where": "line 1"}
autograder.runtime.recorded.reply_to_tree = lambda reply: {"outputs": {"doubled": output, "row": output}, "error": error,
                                                           "mutating_ops": [], "forbidden_calls": []}
