# Says that its errors stand in a line whose number fills the page of feedback.
# sees: 0{1000}
# restriction: schema
import autograder.runtime.replay
from autograder.runtime.recorded import CapturedError, ErrorLocation

error = CapturedError("raised", "Error", "no message", ErrorLocation(10**4000, "double", "return x"))
autograder.runtime.replay.describe_error = lambda *a: error
