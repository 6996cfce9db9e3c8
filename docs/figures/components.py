"""Accuracy and time over the number of components, as `sketchforest bench components` measured."""

import matplotlib.pyplot as plt
from plot_style import COLOURS, means_by, rows_of, tidy

SETS = ("delicious", "bibtex", "diatoms", "mediamill", "Expression-GO")
COMPONENTS = (1, 4, 8, 16, 32, 64, 128)
rows = rows_of("study/components-100-trees.csv")
scores = means_by(rows, ("dataset", "method"), "lrap")
seconds = means_by(rows, ("dataset", "method"), "seconds")

figure, (quality, time) = plt.subplots(1, 2, figsize=(9, 3.6))
for name, colour in zip(SETS, COLOURS, strict=False):
    for axes, values in ((quality, scores), (time, seconds)):
        known = [m for m in COMPONENTS if (name, f"rf-{m}") in values]
        relative = [values[name, f"rf-{m}"] / values[name, "rf-plain"] for m in known]
        axes.plot(known, relative, "o-", color=colour, label=name)
for axes in (quality, time):
    axes.axhline(1, color="black", linewidth=0.8)
    axes.set_xscale("log", base=2)
    axes.set_xticks(COMPONENTS, COMPONENTS)
    axes.set_xlabel("components m")
    tidy(axes)
quality.set_ylabel("LRAP / LRAP on the original outputs")
time.set_ylabel("time of a fit / that on the original outputs")
time.legend(frameon=False)
