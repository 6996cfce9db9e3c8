"""The picture of the first page: what `python -m benchmarks bench` measured on Delicious."""

import matplotlib.pyplot as plt
import pandas as pd

from benchmarks.bench.front import draw_front

draw_front(pd.read_csv("../benchmark/delicious.csv"), plt.figure())
