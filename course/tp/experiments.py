"""One way to compare: the same number of steps for everything, several seeds, and the spread in the table.

    def run(steps, seed, rate):
        ...                               # train for `steps` batches
        return {"exact match": 0.93}      # what was measured, name → number

    tp.experiment("learning rate", {"0.001": {"rate": 1e-3}, "0.03": {"rate": 3e-2}}, run, steps=200,
                  expected="The small one is still learning when the steps are used up.")
"""

from autograder.runtime import rich_output

from .training import quick

__all__ = ["SEEDS", "experiment", "spread"]

SEEDS = (0, 1, 2)


def experiment(name, settings, run, steps, seeds=SEEDS, expected=""):
    """Run each setting once for each seed, show a table with mean and spread, and return what was measured.

    `settings` is label → keyword arguments for `run(steps=…, seed=…, **setting)`, which returns a dict, what was
    measured → a number. `steps` is the budget of each run: seconds would give a quick machine more training. `expected`
    is what you think will come out, and why, written down before you know. Returns label → a list of those dicts, in
    the order of the seeds.

    Raises `ValueError` where nothing is expected, with fewer than two settings, and with fewer than two seeds: one run
    of each cannot tell a difference between settings from luck. When all is `quick`, two seeds are run.
    """
    seeds = list(dict.fromkeys(seeds))
    if not expected.strip(" .…?"):
        raise ValueError(f"{name}: write down in expected=\"…\" what you think will come out, before you run it")
    if len(settings) < 2:
        raise ValueError(f"{name}: a comparison needs two settings at least, not {len(settings)}")
    if len(seeds) < 2:
        raise ValueError(f"{name}: one run is one run; give two seeds or more, such as seeds={SEEDS}")
    if quick():
        seeds = seeds[:2]
    print(f"Expected: {expected}")
    measured = {label: [run(steps=steps, seed=seed, **setting) for seed in seeds]
                for label, setting in settings.items()}
    names = list(next(iter(measured.values()))[0])
    rich_output.table([[label, *(spread([result[what] for result in results]) for what in names)]
                       for label, results in measured.items()],
                      [name, *names],
                      f"{steps} steps a run; mean of {len(seeds)} seeds, and the lowest and the highest")
    return measured


def spread(values):
    """Mean, lowest and highest of some numbers as text, three digits each: `0.91 (0.88 – 0.95)`."""
    mean, low, high = (f"{value:.3g}" for value in (sum(values) / len(values), min(values), max(values)))
    return f"{mean} ({low} – {high})"
