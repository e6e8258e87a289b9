"""Output layers on the sums of session 3, with and without attention, at three peaks of the learning rate.

Everything but the peak is as in `readout`, where the runs at 0.006 are: sums and differences of numbers below 100, 1200
steps of 64 fresh questions, tested on 2000 pairs of numbers that training never draws.
"""

from ..measure import table
from .ledger import percent, stored
from .readout import Design, run

__all__ = ["DESIGNS", "SEEDS", "report", "run"]

SEEDS = (0, 1, 2, 3, 4)
PEAKS = (0.003, 0.012)
LAYERS = [("state", "", 0), ("concatenated", "", 0), ("concatenated", "Tanh", 64), ("state", "Tanh", 64)]
DESIGNS = [Design("GRU", read_out, layer, width, "session 3", peak)
           for peak in PEAKS for read_out, layer, width in LAYERS]


def report(results):
    """A line for each output layer, a column for each peak; and what attention adds, without a layer, seed by seed."""
    runs = sorted([*results, *stored("readout")["results"]], key=lambda run: run["seed"])

    def right(*design):
        return [run["right"] for run in runs if run["design"] == vars(Design("GRU", *design))]

    peaks = sorted({*PEAKS, Design().peak})
    rows = [[read_out, f"{layer} {width}" if layer else "none",
             *(percent(right(read_out, layer, width, "session 3", peak)) for peak in peaks)]
            for read_out, layer, width in LAYERS]
    added = [[f"peak {peak:g}", *(f"{100 * (both - state):+.1f}" for both, state in zip(
        *(right(read_out, "", 0, "session 3", peak) for read_out in ("concatenated", "state")), strict=True))]
             for peak in peaks]
    return (table(["what predicts", "layer before the last", *(f"peak {peak:g}, exact match in %" for peak in peaks)],
                  rows) + "\n"
            + table(["concatenated minus state, no layer, points", *(f"seed {seed}" for seed in SEEDS)], added))
