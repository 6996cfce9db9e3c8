"""Accuracy and time against the number of components, from the study of components."""

import matplotlib.pyplot as plt
from plot_style import COLOURS, clean_axes, means_by, read_rows

SETS = ("delicious", "bibtex", "diatoms", "mediamill", "Expression-GO")
COMPONENTS = (1, 4, 8, 16, 32, 64, 128)
rows = read_rows("study/components-100-trees.csv")
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
    axes.set_xlabel("number of components m")
    clean_axes(axes)
quality.set_ylabel("LRAP / LRAP on original outputs")
time.set_ylabel("fit time / fit time on original outputs")
time.legend(frameon=False)
