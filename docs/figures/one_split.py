"""The best split of one feature: the one with the least variance of the sketch on both sides."""

import matplotlib.pyplot as plt
import numpy as np
from plot_style import BLUE, GREY, ORANGE, clean_axes

rng = np.random.default_rng(3)
x = np.sort(rng.uniform(0, 10, 60))
is_right = x > 6.2
Z = np.where(is_right[:, None], (1.0, -0.7), (-0.6, 0.5)) + rng.normal(0, 0.55, (60, 2))
left, right = np.cumsum(Z, 0)[:-1], (Z.sum(0) - np.cumsum(Z, 0))[:-1]
n = np.arange(1, 60)
score = (left**2).sum(1) / n + (right**2).sum(1) / (60 - n)
thresholds = (x[1:] + x[:-1]) / 2
best = thresholds[score.argmax()]

figure, (above, below) = plt.subplots(2, 1, figsize=(6.8, 4.6), sharex=True, height_ratios=(2, 1))
for component, colour in enumerate((BLUE, ORANGE)):
    above.plot(x, Z[:, component], "o", color=colour, label=f"component {component + 1} of Z")
below.plot(thresholds, score, color="black")
for axes in (above, below):
    axes.axvline(best, color=GREY, linestyle="--")
    clean_axes(axes)
above.set_ylabel("sketch of the row")
above.set_ylim(-2, 3)
above.legend(frameon=False, loc="upper left")
below.set(xlabel="feature value", ylabel="split score")
below.annotate(" best threshold", (best, score.min()), color="#444444")
