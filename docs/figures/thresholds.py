"""Precision and recall against the threshold, on function descriptions."""

import matplotlib.pyplot as plt
import numpy as np
from plot_style import BLUE, GREEN, GREY, ORANGE, clean_axes
from sklearn.feature_extraction.text import TfidfVectorizer

from sketchforest import SketchForestClassifier
from sketchforest.datasets import Columns, read_table

columns = Columns(text="description", tags="tags")
data, texts = read_table("../../examples/functions.csv", columns)
X = TfidfVectorizer(min_df=2).fit_transform(texts)
is_test = np.arange(len(texts)) % 5 == 0
forest = SketchForestClassifier(50, random_state=0).fit(X[~is_test], data.Y[~is_test])
scores, truth = forest.predict_proba(X[is_test]), data.Y[is_test].toarray() > 0

thresholds = np.linspace(0.01, 0.95, 60)
hits = np.array([(truth & (scores > t)).sum() for t in thresholds])
predicted = np.array([(scores > t).sum() for t in thresholds])
figure, axes = plt.subplots(figsize=(6.4, 3.6))
axes.plot(thresholds, hits / predicted, color=BLUE, label="precision")
axes.plot(thresholds, hits / truth.sum(), color=GREEN, label="recall")
axes.plot(thresholds, 2 * hits / (predicted + truth.sum()), color=ORANGE, label="F1")
axes.axvline(forest.thresholds_, color=GREY, linestyle="--")
axes.annotate(' chosen by "f1",\n without these rows', (forest.thresholds_, 0.06), color="#444444")
axes.set(xlabel="threshold", ylim=(0, 1))
axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
clean_axes(axes)
