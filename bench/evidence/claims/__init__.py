"""The sentences of the course that say what was seen, and what they rest on: a module for each session."""

import importlib
import pkgutil

RUNS = ["readout", "rates", "one_hot", "levers", "calculators", "races", "bottleneck", "scratchpads", "lookups",
        "searches", "explanations", "heads", "induction", "three_digits"]

CLAIMS = [claim for module in pkgutil.iter_modules(__path__)
          for claim in importlib.import_module(f"{__name__}.{module.name}").CLAIMS]
