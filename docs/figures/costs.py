"""Estimated against measured costs."""

from pathlib import Path

import matplotlib.pyplot as plt
from plot_style import BLUE, GREEN, ORANGE, clean_axes

from benchmarks.studies.costs import TOLERANCE, table

COLOURS = {"random forest": BLUE, "extra-trees": GREEN, "sketch forest": ORANGE}
rows = list(table(Path("../study/costs.csv")))
figure, panels = plt.subplots(1, 3, figsize=(10.5, 3.8))
for axes, (cost, unit, title) in zip(
    panels,
    (
        ("seconds", 1, "fit time (processor seconds)"),
        ("model_bytes", 1e6, "model size (MB)"),
        ("fit_bytes", 1e6, "memory added by a fit (MB)"),
    ),
    strict=True,
):
    for kind, colour in COLOURS.items():
        found = [row[cost] for row in rows if row["method"] == kind]
        measured, predicted = ([pair[i] / unit for pair in found] for i in (0, 1))
        axes.plot(measured, predicted, "o", color=colour, label=kind)
    ends = [min(pair[0] for pair in (row[cost] for row in rows)) / unit / 1.5]
    ends.append(max(row[cost][0] for row in rows) / unit * 1.5)
    axes.plot(ends, ends, color="black", linewidth=0.8)
    low, high = ([(1 + sign * TOLERANCE) * end for end in ends] for sign in (-1, 1))
    axes.fill_between(ends, low, high, color="#eeeeee", zorder=0)
    axes.set(xscale="log", yscale="log", xlabel="measured", title=title)
    clean_axes(axes)
panels[0].set_ylabel("estimated")
panels[0].legend(frameon=False)
