"""
Find similar documents
======================

Two rows are similar if they often share a leaf. `leaf_weights` returns the weight of each training
row in a prediction, and `similar` the nearest training rows. This similarity depends on the labels,
not only on the words.
"""

# %%
import matplotlib.pyplot as plt
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics.pairwise import linear_kernel

from sketchforest import SketchForestClassifier
from sketchforest.datasets import Columns, read_table

data, texts = read_table("functions.csv", Columns(text="description", tags="tags"))
vectorizer = TfidfVectorizer(min_df=2)
X = vectorizer.fit_transform(texts)
forest = SketchForestClassifier(
    30, linear=0, label_correlations=False, random_state=0, n_jobs=-1
).fit(X, data.Y)

query = vectorizer.transform(["How far apart are two sets of points?"])
rows, weights = forest.similar(query, k=4)
for row, weight in zip(rows[0], weights[0], strict=True):
    print(f"{weight:.3f} {texts[row]}")

# %%
# For comparison, the texts with the most words in common:
for row in linear_kernel(query, X)[0].argsort()[::-1][:4]:
    print(texts[row])

# %%
# The trees predict the product of leaf weights and labels, and most of the weight is on few rows.
# A sketch forest adds a linear part, unless `linear=0`.
weights = forest.leaf_weights(query)
print(weights.shape, weights.nnz, "training rows count;", f"weights sum to {weights.sum():.6f}")
print(abs(weights @ data.Y - forest.predict_proba(query)).max() < 1e-6)

plt.plot(sorted(weights.data, reverse=True))
plt.xlabel("training rows, nearest first")
plt.ylabel("weight")
plt.show()
