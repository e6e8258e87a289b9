"""`python -m bench [part …] [--quick]`: measure, and write docs/benchmarks.md with its plots in docs/benchmarks/."""

import argparse
import importlib
import importlib.util
import tempfile
from pathlib import Path

import matplotlib
import torch

from . import measure

ROOT = Path(__file__).resolve().parent.parent
PARTS = [name for name in ["learning", "attention", "data", "grading", "hostile", "starting", "classes", "similar",
                           "pronunciation", "gpu"] if importlib.util.find_spec(f"bench.{name}")]
OPENING = """# Benchmarks

`make bench` (`python -m bench`) measures and writes this page. Times are CPU seconds of one process on one core. A cell
such as `1.2 (1.1 – 1.5)` is the median of the repeats and their range. `python -m bench data attention` measures these
parts alone. With `--quick` it is a smoke run, which does not change this page.

"""


def main():
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], metavar="part",
                        help=f"what to measure (all: {', '.join(PARTS)})")
    parser.add_argument("--quick", action="store_true", help="tiny sizes, into a temporary folder")
    parser.add_argument("--repeats", type=int, default=3, metavar="N", help="how often each part is measured (3)")
    parser.add_argument("--report-only", action="store_true", help="write the page from what was measured before")
    options = parser.parse_args()
    torch.set_num_threads(1)
    matplotlib.use("Agg")
    docs = Path(tempfile.mkdtemp(prefix="bench-")) if options.quick else ROOT / "docs"
    folder = docs / "benchmarks"
    folder.mkdir(exist_ok=True)
    repeats = 1 if options.quick else options.repeats
    without = [] if torch.cuda.is_available() else ["gpu"]
    failures = []
    for name in [] if options.report_only else options.parts or [name for name in PARTS if name not in without]:
        part = importlib.import_module(f"bench.{name}")
        print(f"{part.TITLE} …", flush=True)
        results = part.measure(options.quick, repeats, folder)
        measure.store(folder, name, results)
        if name == "gpu":
            print(part.report(results, None))
            failures += part.failures(results)
    write_page(docs, folder)
    print(docs / "benchmarks.md")
    if failures:
        raise SystemExit("\n".join(failures))


def write_page(docs, folder):
    """The page from what is in `folder`: for each part its measurements, and what a person wrote about them.

    The remarks of a person stand in `<part>.md`.
    """
    text = OPENING
    for name in PARTS:
        part = importlib.import_module(f"bench.{name}")
        text += f"## {part.TITLE}\n\n"
        if stored := measure.stored(folder, name):
            text += f"{part.report(stored['results'], Pictures(folder))}\n*Measured on {stored['machine']}.*\n\n"
        else:
            text += f"Not measured yet: `python -m bench {name}`.\n\n"
        if (remarks := folder / f"{name}.md").exists():
            text += remarks.read_text() + "\n"
    (docs / "benchmarks.md").write_text(text)


class Pictures:
    """Plots for the page: `figure, axes = picture(rows, columns, name)`, draw, then `figure(alt)` is the Markdown."""

    def __init__(self, folder):
        self.folder = folder

    def __call__(self, rows, columns, name, **options):
        import matplotlib.pyplot as plt
        size = (2.4 + 2.2 * columns, 2.8 * rows)
        figure, axes = plt.subplots(rows, columns, figsize=size, layout="constrained", **options)

        def save(alt):
            handles = {}
            for ax in figure.axes:
                ax.grid(alpha=0.25)
                ax.spines[["top", "right"]].set_visible(False)
                handles |= dict(zip(*reversed(ax.get_legend_handles_labels()), strict=True))
            if handles:
                figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=3, frameon=False)
            figure.savefig(self.folder / f"{name}.png", dpi=110)
            plt.close(figure)
            return f"![{alt}](benchmarks/{name}.png)\n"

        return save, axes


if __name__ == "__main__":
    main()
