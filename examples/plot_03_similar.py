"""
Similar documents by leaf weights
=================================

Two rows are alike where they often share a leaf. `leaf_weights` says how much each training row
counts for a prediction; `similar` gives the nearest ones. Labels decide what counts as alike, not
words alone.
"""

# %%
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics.pairwise import linear_kernel

from sketchforest import SketchForestClassifier
from sketchforest.datasets import Columns, read_table

data, texts = read_table("functions.csv", Columns(text="description", tags="tags"))
vectorizer = TfidfVectorizer(min_df=2)
X = vectorizer.fit_transform(texts)
forest = SketchForestClassifier(n_estimators=30, random_state=0, n_jobs=-1).fit(X, data.Y)

query = vectorizer.transform(["How far apart are two sets of points?"])
rows, weights = forest.similar(query, k=4)
for row, weight in zip(rows[0], weights[0], strict=True):
    print(f"{weight:.3f} {texts[row]}")

# %%
# Beside them, what shares the most words:
for row in linear_kernel(query, X)[0].argsort()[::-1][:4]:
    print(texts[row])

# %%
# A prediction is the product of weights and labels.
weights = forest.leaf_weights(query)
print(weights.shape, weights.nnz, "training rows count;", f"weights sum to {weights.sum():.6f}")
print(abs(weights @ data.Y - forest.predict_proba(query)).max() < 1e-6)
