"""The picture of the first page: what `sketchforest bench accuracy` measured."""

import csv
from pathlib import Path

import matplotlib.pyplot as plt

from sketchforest.lab.studies.accuracy_page import draw_front

with Path("../accuracy-100-trees.csv").open(newline="", encoding="utf-8") as file:
    draw_front(list(csv.DictReader(file)), plt.figure())
