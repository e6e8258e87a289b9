"""Prints, after the tests of hostile notebooks, how many attacks each restriction stopped, and what the worst costs."""

from collections import defaultdict


def told_by(terminalreporter):
    """A table: each restriction, the attacks that it stops, and those that succeed without it."""
    told = defaultdict(list)
    for outcome in ("passed", "failed"):
        for report in terminalreporter.stats.get(outcome, []):
            for name, value in getattr(report, "user_properties", []) if report.when == "call" else []:
                told[name].append((outcome == "passed", value))
    if not told["attack"] and not told["control"]:
        return
    from removals import RESTRICTIONS

    terminalreporter.section("restrictions, and the attacks that they stop")
    controls = {restriction: (done, seen) for _, (restriction, done, seen) in told["control"]}
    terminalreporter.line(f"{'restriction':13} {'stopped':>9}  {'succeed without it':>18}   what it does")
    total = [0, 0, 0, 0]
    for name, restriction in RESTRICTIONS.items():
        mine = [passed for passed, (attacked, *_) in told["attack"] if attacked == name]
        tried, seen = controls.get(name, (0, 0))
        total = [a + b for a, b in zip(total, (sum(mine), len(mine), seen, tried), strict=True)]
        terminalreporter.line(f"{name:13} {sum(mine):4} of {len(mine):2}  {seen:12} of {tried:2}    {restriction.says}")
    terminalreporter.line("{:13} {:3} of {:3}  {:11} of {:3}".format("all", *total))
    seconds = sorted((value[2], value[1]) for _, value in told["attack"])
    if seconds:
        right = sorted(value[3] for _, value in told["attack"])
        terminalreporter.line(f"The worst submission took {seconds[-1][0]:.1f} s ({seconds[-1][1]}), the median one "
                              f"{seconds[len(seconds) // 2][0]:.1f} s, a right one {right[len(right) // 2]:.1f} s.")
