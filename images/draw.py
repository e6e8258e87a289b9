"""Draw every figure of the course: python images/draw.py [--check] [names …]

    python images/draw.py              draw all, and the gallery images/README.md
    python images/draw.py gru_cell     draw these only
    python images/draw.py --check      draw nothing; say which files are stale, exit 1 if any is
    python images/draw.py --alt NAME   print the alt text of one figure, to paste it beside the picture
"""

import argparse
import sys
from pathlib import Path

import readme
import tp1
import tp2
import tp3
import tp3_decoder
import tp4
import tp5
import tp6
import tp7
from kit import FIGURES

HERE = Path(__file__).resolve().parent
# Each of these modules registers its figures when it is imported.
SECTIONS = {"readme": readme, "tp1": tp1, "tp2": tp2, "tp3": tp3, "tp3_decoder": tp3_decoder, "tp4": tp4,
            "tp5": tp5, "tp6": tp6, "tp7": tp7}


def gallery():
    """The page that shows all figures with what they say in words."""
    lines = ["# The figures of the course", "",
             "Drawn by `python images/draw.py`; this page too. Do not edit the SVG files: edit the script",
             "`images/tpN.py` in which the figure stands, draw again, and look at it in light and dark.", ""]
    for name, module in SECTIONS.items():
        lines += [f"## {name}: {module.__doc__.splitlines()[0]}", ""]
        for figure in FIGURES.values():
            if figure.draw.__module__ == name:
                lines += [f"### {figure.name}", "", f"{figure.title}.", "", f"![{figure.alt}]({figure.name}.svg)", ""]
    return "\n".join(lines)


def files(names=()):
    """File name → text, for the figures of these names (all of them, and the gallery, by default)."""
    made = {f"{name}.svg": FIGURES[name].svg() for name in names or FIGURES}
    if not names:
        made["README.md"] = gallery()
    return made


def stale():
    """The names of files that are missing, differ from what the scripts draw, or that no script draws."""
    made = files()
    differ = [name for name, text in made.items()
              if not (HERE / name).exists() or (HERE / name).read_text(encoding="utf-8") != text]
    orphans = [path.name for path in HERE.glob("*.svg") if path.name not in made]
    return sorted(differ + orphans)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="figures to draw (default: all)")
    parser.add_argument("--check", action="store_true", help="only say which files are stale")
    parser.add_argument("--alt", metavar="NAME", help="print the alt text of a figure")
    options = parser.parse_args(arguments)
    if options.alt:
        print(FIGURES[options.alt].alt)
        return 0
    if options.check:
        names = stale()
        print("\n".join(f"stale: images/{name}" for name in names) or "All figures are up to date.")
        return 1 if names else 0
    for name, text in files(options.names).items():
        (HERE / name).write_text(text, encoding="utf-8")
    print(f"Drawn: {len(options.names or FIGURES)} figures.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
