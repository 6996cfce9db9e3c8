"""Errors of boosting on regression sets, and its time against the number of outputs."""

import matplotlib.pyplot as plt
import numpy as np
from plot_style import BLUE, GREEN, GREY, ORANGE, PINK, clean_axes, means_by, read_rows

OURS = "sketch boosting"
OTHERS = {
    "xgboost, multi-output trees": (ORANGE, "s"),
    "xgboost, single-output trees": (PINK, "^"),
    "sketch forest": (GREEN, "D"),
}
errors = means_by(read_rows("study/boosting-regression.csv"), ("path", "method"), "error")
seconds = means_by(read_rows("study/boosting-outputs.csv"), ("n_outputs", "n_trees"), "cpu_seconds")

figure, (quality, time) = plt.subplots(1, 2, figsize=(9, 3.6))
names = sorted({name for name, _ in errors})
for method, (colour, marker) in OTHERS.items():
    known = [name for name in names if (name, method) in errors]
    ratios = [errors[name, method] / errors[name, OURS] for name in known]
    quality.plot(known, ratios, marker, color=colour, label=method)
quality.axhline(1, color=BLUE, linewidth=1.5, label=OURS)
quality.set_ylabel("aRRMSE / aRRMSE of sketch boosting")
quality.legend(frameon=False, fontsize=8)

n_outputs, per_tree = zip(
    *sorted((int(d), value / int(trees)) for (d, trees), value in seconds.items()), strict=True
)
time.loglog(n_outputs, per_tree, "o-", color=BLUE)
last = np.array([n_outputs[-2], n_outputs[-1]])
time.loglog(last, per_tree[-1] * last / last[-1], "--", color=GREY, label="proportional")
time.set_xlabel("number of outputs")
time.set_ylabel("processor seconds per tree")
time.legend(frameon=False)
for axes in (quality, time):
    clean_axes(axes)
