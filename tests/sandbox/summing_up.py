"""Prints, behind the tests of hostile notebooks, which walls stopped how many attacks, and what the worst one costs."""

from collections import defaultdict


def told_by(terminalreporter):
    """A table: each wall, the attacks that it stops, and those that succeed without it."""
    told = defaultdict(list)
    for outcome in ("passed", "failed"):
        for report in terminalreporter.stats.get(outcome, []):
            for name, value in getattr(report, "user_properties", []) if report.when == "call" else []:
                told[name].append((outcome == "passed", value))
    if not told["attack"] and not told["control"]:
        return
    from removals import WALLS

    terminalreporter.section("walls, and the attacks that they stop")
    controls = {wall: (done, seen) for _, (wall, done, seen) in told["control"]}
    terminalreporter.line(f"{'wall':13} {'stopped':>9}  {'succeed without it':>18}   what it does")
    total = [0, 0, 0, 0]
    for wall, about in WALLS.items():
        mine = [passed for passed, (name, *_) in told["attack"] if name == wall]
        tried, seen = controls.get(wall, (0, 0))
        total = [a + b for a, b in zip(total, (sum(mine), len(mine), seen, tried), strict=True)]
        terminalreporter.line(f"{wall:13} {sum(mine):4} of {len(mine):2}  {seen:12} of {tried:2}    {about.says}")
    terminalreporter.line("{:13} {:3} of {:3}  {:11} of {:3}".format("all", *total))
    seconds = sorted((value[2], value[1]) for _, value in told["attack"])
    if seconds:
        right = sorted(value[3] for _, value in told["attack"])
        terminalreporter.line(f"The worst submission took {seconds[-1][0]:.1f} s ({seconds[-1][1]}), the median one "
                              f"{seconds[len(seconds) // 2][0]:.1f} s, a right one {right[len(right) // 2]:.1f} s.")
