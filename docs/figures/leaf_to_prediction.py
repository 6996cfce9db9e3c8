"""A tree with the training rows in its leaves, and the prediction for a new row."""

import matplotlib.pyplot as plt
from plot_style import BLUE, GREY, ORANGE, hide_axes

NODES = {"word 'soup'?": (4, 3), "word 'freeze'?": (2, 2), "word 'bake'?": (6.4, 2)}
LEAVES = {
    (0.8, 1): ["3: soup", "8: soup, salt"],
    (3.2, 1): ["1: soup, storage", "5: storage", "9: soup, storage"],
    (5.2, 1): ["2: rice", "7: eggs, salt"],
    (7.6, 1): ["4: bread, baking", "6: cake, baking"],
}
EDGES = (
    ((4, 3), (2, 2)),
    ((4, 3), (6.4, 2)),
    ((2, 2), (0.8, 1)),
    ((2, 2), (3.2, 1)),
    ((6.4, 2), (5.2, 1)),
    ((6.4, 2), (7.6, 1)),
)
PATH = {((4, 3), (2, 2)), ((2, 2), (3.2, 1))}

figure, axes = plt.subplots(figsize=(8.6, 4.4))
for start, end in EDGES:
    colour, width = (ORANGE, 3) if (start, end) in PATH else (GREY, 1.2)
    axes.plot(*zip(start, end, strict=True), color=colour, linewidth=width, zorder=1)
for text, place in NODES.items():
    axes.text(*place, text, ha="center", va="center", bbox={"fc": "white", "ec": GREY, "pad": 5})
for place, rows in LEAVES.items():
    is_reached = place == (3.2, 1)
    box = {
        "fc": "#fff0e0" if is_reached else "white",
        "ec": ORANGE if is_reached else BLUE,
        "pad": 5,
    }
    axes.text(*place, "\n".join(rows), ha="center", va="center", fontsize=9, bbox=box)
axes.text(4, 3.45, '"How long does soup keep if I freeze it?"', ha="center", color=ORANGE)
axes.text(
    3.2,
    0.25,
    "this tree: storage 3/3, soup 2/3\nforest: mean over all trees",
    ha="center",
    va="center",
)
axes.annotate("", (3.2, 0.42), (3.2, 0.72), arrowprops={"arrowstyle": "->", "color": ORANGE})
axes.set(xlim=(-0.2, 8.8), ylim=(0, 3.7))
hide_axes(axes)
