"""Time of boosting against the number of outputs."""

import matplotlib.pyplot as plt
import numpy as np
from plot_style import BLUE, GREY, clean_axes, read_rows

rows = sorted(read_rows("study/boosting-outputs.csv"), key=lambda row: int(row["n_outputs"]))
n_outputs = np.array([int(row["n_outputs"]) for row in rows])
seconds = np.array([float(row["cpu_seconds"]) / int(row["n_trees"]) for row in rows])

figure, axes = plt.subplots(figsize=(5.5, 3.4))
axes.loglog(n_outputs, seconds, "o-", color=BLUE, label="sketch boosting")
axes.loglog(
    n_outputs, seconds[0] * n_outputs / n_outputs[0], "--", color=GREY, label="proportional"
)
axes.set_xlabel("number of outputs")
axes.set_ylabel("processor seconds per tree")
axes.legend(frameon=False)
clean_axes(axes)
