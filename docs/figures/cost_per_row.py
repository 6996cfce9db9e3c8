"""What adding one row to one side of a cut costs, by the form of the outputs, for Delicious."""

import matplotlib.pyplot as plt
from plot_style import BLUE, GREEN, GREY, ORANGE, tidy

WAYS = (
    ("all 983 labels, as a dense row", 983, GREY),
    ("sketch, m = 64 (default)", 64, BLUE),
    ("sketch, m = 25", 25, BLUE),
    ("the 19 labels that a row has (projection=None)", 19, ORANGE),
    ("sketch, m = 1", 1, GREEN),
)
figure, axes = plt.subplots(figsize=(8, 2.8))
for place, (_, numbers, colour) in enumerate(WAYS):
    axes.barh(place, numbers, color=colour)
    axes.text(numbers * 1.1, place, str(numbers), va="center")
axes.set_yticks(range(len(WAYS)), [name for name, *_ in WAYS])
axes.invert_yaxis()
axes.set_xscale("log")
axes.set(xlim=(0.7, 2500), xlabel="numbers added for each row and feature looked at")
tidy(axes)
