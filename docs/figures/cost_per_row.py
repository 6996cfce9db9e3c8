"""Cost of moving one row across a split on Delicious, by representation of the outputs."""

import matplotlib.pyplot as plt
from plot_style import BLUE, GREEN, GREY, ORANGE, clean_axes

REPRESENTATIONS = (
    ("all 983 labels (dense)", 983, GREY),
    ("sketch, m = 64 (default)", 64, BLUE),
    ("sketch, m = 25", 25, BLUE),
    ("the 19 labels per row (projection=None)", 19, ORANGE),
    ("sketch, m = 1", 1, GREEN),
)
figure, axes = plt.subplots(figsize=(8, 2.8))
for place, (_, numbers, colour) in enumerate(REPRESENTATIONS):
    axes.barh(place, numbers, color=colour)
    axes.text(numbers * 1.1, place, str(numbers), va="center")
axes.set_yticks(range(len(REPRESENTATIONS)), [name for name, *_ in REPRESENTATIONS])
axes.invert_yaxis()
axes.set_xscale("log")
axes.set(xlim=(0.7, 2500), xlabel="numbers added per row and candidate feature")
clean_axes(axes)
