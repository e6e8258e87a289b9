"""The command line: `autograder release | grade | check | verify`."""

import argparse
import sys

from . import source


def main(argv=None) -> int:
    """Run one command; 0 all well, 1 done but not all passed, 2 could not be done (with one line why)."""
    args = _parser().parse_args(argv)
    try:
        return args.run(args)
    except source.SourceError as error:
        print(f"autograder: {error}", file=sys.stderr)
        return 2


def _verify(args) -> int:
    from .verify import prove

    bad = 0
    for name in args.tp or source.names():
        proof = prove(name, range(args.seeds), args.device)
        print(f"{name}: {proof.mistakes} mistakes, {proof.variants} variants, {proof.seeds} seeds: "
              f"{'all caught, named and passed' if not proof.faults else f'{len(proof.faults)} faults'}")
        for fault, count in proof.faults.items():
            print(f"  {fault} (on {count} of {proof.seeds} seeds)")
        bad += len(proof.faults)
    return 1 if bad else 0


def _parser():
    parser = argparse.ArgumentParser(prog="autograder", description="Release the course, grade what comes back, and prove that the judge is right.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    verify = commands.add_parser("verify", help="prove the solutions, mistakes and variants of the TPs")
    verify.add_argument("tp", nargs="*", help="names of TPs (all, when none is given)")
    verify.add_argument("--seeds", type=int, default=3, help="how many draws of every check (3)")
    verify.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    verify.set_defaults(run=_verify)
    return parser


if __name__ == "__main__":
    sys.exit(main())
