"""The matrices Y, P and Z = Y P."""

import matplotlib.pyplot as plt
import numpy as np

from sketchforest.datasets import make_multilabel
from sketchforest.projection import sketch

data = make_multilabel(24, 30, 60, labels_per_row=4, features_per_row=8)
Y = data.Y.toarray().astype(np.float32)
P = sketch("gaussian", np.eye(60, dtype=np.float32), 5, np.random.default_rng(0))
Z = Y @ P

figure, panels = plt.subplots(1, 3, figsize=(9, 3.8), width_ratios=(60, 14, 14))
for axes, matrix, title, shown in (
    (panels[0], Y, "Y: 24 rows, 60 labels, mostly zero", {"cmap": "Greys"}),
    (panels[1], P, "P: random,\n60 × 5", {"cmap": "PuOr", "vmin": -1.5, "vmax": 1.5}),
    (panels[2], Z, "Z = Y P:\n24 rows, m = 5", {"cmap": "PuOr", "vmin": -2.5, "vmax": 2.5}),
):
    axes.imshow(matrix, aspect="auto", interpolation="nearest", **shown)
    axes.set_title(title, fontsize=10)
    axes.set(xticks=[], yticks=[])
for axes, sign in ((panels[1], "×"), (panels[2], "=")):
    axes.annotate(sign, (-0.35, 0.5), xycoords="axes fraction", fontsize=16, ha="center")
