"""Workers that take their time and judge nothing: what is behind them can be measured alone. Nothing here needs torch.
"""

import time


class Simulated:
    """An executor whose workers give everybody the same verdict, so many seconds after they were asked."""

    def __init__(self, executor, verdict, seconds):
        self.executor, self.verdict, self.seconds = executor, verdict, seconds

    def submit(self, judge_one, course, handed, *rest):
        """As `judge_one` would be submitted: the notebook travels there, the verdict back."""
        return self.executor.submit(later, self.seconds, self.verdict, handed)


def later(seconds, verdict, handed):
    """The verdict, after that time."""
    time.sleep(seconds)
    return verdict
