"""Error of boosting and forests by the number of trees, and by the time of the fit."""

from itertools import product

import matplotlib.pyplot as plt
from plot_style import BLUE, GREEN, GREY, ORANGE, PINK, SKY, clean_axes, read_rows

SETS = {"mediamill": "mediamill, 101 labels", "delicious": "delicious, 983 labels"}
STYLES = {
    "sketch boosting": (BLUE, "o-"),
    "sketch boosting on all outputs": (SKY, "s-"),
    "sketch boosting on one component": (SKY, "^:"),
    "xgboost, multi-output trees": (ORANGE, "o-"),
    "xgboost, single-output trees": (ORANGE, "^:"),
    "catboost": (PINK, "o-"),
    "lightgbm": (PINK, "^:"),
    "histogram gradient boosting": (GREY, "^:"),
    "sketch forest": (GREEN, "s--"),
}
X_AXES = {
    "n_trees": "rounds of boosting, trees of a forest",
    "cpu_seconds": "processor seconds of the fit",
}

rows = read_rows("study/boosting-curves.csv")
figure, grid = plt.subplots(2, 2, figsize=(9, 7.5), sharey="col", layout="constrained")
for (row, (x, label)), (column, (name, title)) in product(
    enumerate(X_AXES.items()), enumerate(SETS.items())
):
    axes = grid[row, column]
    for method, (colour, style) in STYLES.items():
        of_method = [each for each in rows if (each["dataset"], each["method"]) == (name, method)]
        points = sorted((float(each[x]), float(each["error"])) for each in of_method)
        if points:
            axes.plot(*zip(*points, strict=True), style, color=colour, label=method, markersize=4)
    axes.set_xscale("log")
    axes.set_xlabel(label)
    if row == 0:
        axes.set_title(title, loc="left")
    if column == 0:
        axes.set_ylabel("cross-entropy")
    clean_axes(axes)
handles, labels = grid[0, 0].get_legend_handles_labels()
figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False, fontsize=8)
