"""Time, repeats, and what the machine is, in general options."""

import json
import os
import platform
import statistics
import sys
import time

import torch


def cpu_seconds(function, repeats=3, at_least=0.2):
    """CPU seconds of one call of `function`, `repeats` times over.

    Short functions are called again and again until `at_least` seconds are full, and the mean is taken.
    CPU seconds of this process, not the clock on the wall: other people's work on the machine does not count
    (it still costs something, because caches are shared).
    """
    function()
    values = []
    for _ in range(repeats):
        calls, start = 0, time.process_time()
        while calls == 0 or time.process_time() - start < at_least:
            function()
            calls += 1
        values.append((time.process_time() - start) / calls)
    return values


def spread(values, form="{:.3g}"):
    """Median and range of the repeats as text: `1.2 (1.1 – 1.5)`; a single value stands alone."""
    values = sorted(values)
    middle = form.format(statistics.median(values))
    if len(values) == 1:
        return middle
    return f"{middle} ({form.format(values[0])} – {form.format(values[-1])})"


def table(header, rows):
    """A Markdown table; the first column is text, the others are numbers."""
    lines = [header, ["---"] + ["---:"] * (len(header) - 1), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines) + "\n"


def machine():
    """This machine in a line, without a name by which one could find it."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    vectors = torch.backends.cpu.get_cpu_capability()
    return (f"{os.cpu_count()} cores ({platform.machine()}, {vectors}), {memory:.0f} GB of memory, "
            f"{platform.system()}; Python {sys.version_info.major}.{sys.version_info.minor}, "
            f"torch {torch.__version__.split('+')[0]}, one thread")


def store(folder, name, results):
    """Keep the results of a part, with the machine they come from."""
    (folder / f"{name}.json").write_text(json.dumps({"machine": machine(), "results": results}, indent=1) + "\n")


def stored(folder, name):
    """What `store` kept, `{"machine": …, "results": …}`; empty if there is nothing."""
    path = folder / f"{name}.json"
    return json.loads(path.read_text()) if path.exists() else {}
