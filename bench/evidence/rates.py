"""Output layers on the sums of session 3 at two learning rates, one seed each.

Everything but the peak of the learning rate is as in `readout`: sums and differences of numbers below 100, 1200 steps
of 64 fresh questions, tested on 2000 pairs of numbers that training never draws.
"""

from ..measure import table
from .ledger import percent
from .readout import Design, run

__all__ = ["DESIGNS", "SEEDS", "report", "run"]

SEEDS = (0,)
PEAKS = (0.003, 0.006)
LAYERS = [("state", "", 0), ("concatenated", "", 0), ("concatenated", "Tanh", 64)]
DESIGNS = [Design("GRU", read_out, layer, width, "session 3", peak)
           for peak in PEAKS for read_out, layer, width in LAYERS]


def report(results):
    """A line for each output layer, a column for each learning rate."""
    rows = [[read_out, f"{layer} {width}" if layer else "none",
             *(percent([run["right"] for run in results
                        if (run["design"]["read_out"], run["design"]["layer"]) == (read_out, layer)
                        and run["design"]["peak"] == peak]) for peak in PEAKS)]
            for read_out, layer, width in LAYERS]
    return table(["what predicts", "layer before the last", *(f"peak {peak:g}, exact match in %" for peak in PEAKS)],
                 rows)
