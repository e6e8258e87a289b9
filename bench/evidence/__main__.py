"""`python -m bench.evidence [run …]`: make what is missing or out of date of these runs, and write docs/evidence.md."""

import argparse
import json

import torch

from ..measure import machine
from . import ledger
from .claims import CLAIMS, RUNS


def main():
    parser = argparse.ArgumentParser(prog="bench.evidence", description=__doc__)
    parser.add_argument("runs", nargs="*", choices=[*RUNS, []], metavar="run", help=f"of: {', '.join(RUNS)}")
    torch.set_num_threads(1)
    for name in parser.parse_args().runs:
        make(name)
    ledger.PAGE.write_text(ledger.page(CLAIMS, RUNS), encoding="utf-8")
    print(ledger.PAGE)


def make(name):
    """Make the runs that are missing; each is kept as soon as it is there, so that a long night may be interrupted."""
    part, kept = ledger.module(name), ledger.stored(name)
    code = ledger.digest(name)
    results = kept["results"] if kept.get("code") == code else []
    wanted = [(design, plain, seed) for seed in part.SEEDS
              for design, plain in zip(part.DESIGNS, ledger.plain(part.DESIGNS), strict=True)]
    results = [result for result in results
               if any((result["design"], result["seed"]) == (plain, seed) for _, plain, seed in wanted)]
    ledger.RESULTS.mkdir(exist_ok=True)
    for design, plain, seed in wanted:
        if not any((result["design"], result["seed"]) == (plain, seed) for result in results):
            results.append({"design": plain, "seed": seed, **part.run(design, seed)})
            print(results[-1], flush=True)
        text = json.dumps({"code": code, "machine": machine(), "results": results}, indent=1)
        (ledger.RESULTS / f"{name}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
