# Says that its errors stand in a line whose number fills the page of feedback.
# sees: 0{1000}
# wall: schema
import tp.checking.replay
from tp.checking.replies import Error, Where

error = Error("raised", "Error", "no message", Where(10**4000, "double", "return x"))
tp.checking.replay.describe_error = lambda *a: error
