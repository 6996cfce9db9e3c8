"""
Add tags without refitting
==========================

Leaves store training rows, so you can replace the labels of these rows without growing new trees:
add new tags, or merge and correct old ones.
"""

# %%
import time

import matplotlib.pyplot as plt
import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer

from sketchforest import RandomForestClassifier
from sketchforest.datasets import Columns, read_table

data, texts = read_table("functions.csv", Columns(text="description", tags="tags"))
X = TfidfVectorizer(min_df=2).fit_transform(texts)
start = time.perf_counter()
forest = RandomForestClassifier(50, random_state=0).fit(X, data.Y)
print(f"grown in {time.perf_counter() - start:.2f} s")

# %%
# Add a new tag: is the description short?
is_short = sparse.csr_array(np.array([[len(text) < 60] for text in texts], np.uint8))
start = time.perf_counter()
forest_with = forest.relabel(sparse.hstack([data.Y, is_short], format="csr"))
print(f"relabelled in {1000 * (time.perf_counter() - start):.0f} ms")
print(forest.n_outputs_, "->", forest_with.n_outputs_)

# %%
# Predictions of the old tags do not change.
old, new = forest.predict_proba(X[:100]), forest_with.predict_proba(X[:100])
print(np.array_equal(old, new[:, :-1]), new[:5, -1].round(2))

# %%
# The new tag has learned what it means, without seeing the length of a text:
lengths = [len(text) for text in texts]
plt.scatter(lengths, forest_with.predict_proba(X)[:, -1], s=8)
plt.axvline(60, color="gray", linestyle="--")
plt.xscale("log")
plt.xlabel("characters of the description")
plt.ylabel("score of the new tag")
plt.show()
