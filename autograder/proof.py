"""Prove the judge, and print the figures: `make proof`.

Mistakes caught and named and variants passed, on many seeds, for every TP; then the hostile and the broken
submissions and the canary, which are tests.
"""

import argparse
import re
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor

from . import source
from .verify import prove


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args(argv)
    bad = mistakes = variants = 0
    with ProcessPoolExecutor(args.jobs) as pool:
        pieces = [(name, pool.submit(prove, name, range(start, min(start + 5, args.seeds)))) for name in source.names() for start in range(0, args.seeds, 5)]
        for name in source.names():
            proofs = [piece.result() for tp, piece in pieces if tp == name]
            faults = sum((proof.faults for proof in proofs), start=type(proofs[0].faults)())
            mistakes, variants, bad = mistakes + proofs[0].mistakes, variants + proofs[0].variants, bad + len(faults)
            print(f"{name}: {proofs[0].mistakes} mistakes caught and named, {proofs[0].variants} variants passed, on {args.seeds} seeds"
                  if not faults else f"{name}: {len(faults)} faults", flush=True)
            for fault, count in faults.items():
                print(f"  {fault} (on {count} seeds)")
    print(f"\n{mistakes} mistakes and {variants} variants in {len(source.names())} TPs\n", flush=True)
    for title, file in (("attacks held", "test_hostile.py"), ("broken submissions graded or refused", "test_broken.py"), ("known tricks, on the stock grader and on ours", "test_canary.py")):
        done = subprocess.run([sys.executable, "-m", "pytest", "-q", "--no-header", str(source.ROOT / "tests" / file)], capture_output=True, text=True, cwd=source.ROOT)
        print(f"{title}: {re.sub(r'=+', '', done.stdout.strip().splitlines()[-1]).strip()}", flush=True)
        for line in done.stdout.splitlines():
            if line.startswith(("FAILED", "ERROR")):
                print(f"  {line}")
        bad += done.returncode != 0
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
