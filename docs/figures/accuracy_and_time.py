"""The picture of the first page: what `python -m benchmarks bench accuracy` measured."""

import matplotlib.pyplot as plt
import pandas as pd

from benchmarks.studies.accuracy_page import draw_front

draw_front(pd.read_csv("../accuracy-100-trees.csv"), plt.figure())
