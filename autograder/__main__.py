"""The entry point of the command: Ctrl-C ends it with one line, also while modules are imported."""

import sys


def main() -> int:
    """Run the command line; return its exit status."""
    try:
        from . import cli
    except KeyboardInterrupt:
        print("\nautograder: stopped", file=sys.stderr)
        return 130
    return cli.main()


if __name__ == "__main__":
    sys.exit(main())
