"""Projections on Delicious, as `python -m benchmarks reproduce figure3` measured them."""

import matplotlib.pyplot as plt
from plot_style import COLOURS, clean_axes, read_rows

rows = read_rows("paper/figure3.csv")
panels = list(dict.fromkeys(row["panel"] for row in rows))
figure, all_axes = plt.subplots(1, len(panels), figsize=(3.6 * len(panels), 3.6), sharey=True)
for axes, panel in zip(all_axes, panels, strict=True):
    here = [row for row in rows if row["panel"] == panel]
    curves = dict.fromkeys(row["curve"] for row in here)
    for curve, colour in zip(curves, COLOURS, strict=False):
        points = [row for row in here if row["curve"] == curve and row["m"]]
        if len(points) > 1:
            m, lrap = ([float(p[key]) for p in points] for key in ("m", "lrap"))
            axes.plot(m, lrap, ".-", color=colour, label=curve)
    axes.set_xscale("log")
    axes.set_title(panel)
    axes.set_xlabel("number of components m")
    axes.legend(frameon=False)
    clean_axes(axes)
all_axes[0].set_ylabel("LRAP on Delicious")
