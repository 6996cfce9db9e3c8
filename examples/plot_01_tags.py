"""
Suggest tags for texts
======================

Train a forest on a bag of words, then let it suggest tags for new texts.
"""

# %%
# `read_table` returns the tags as a sparse matrix, and the texts.
from sklearn.feature_extraction.text import TfidfVectorizer

from sketchforest import SketchForestClassifier
from sketchforest.datasets import Columns, read_table

data, texts = read_table("functions.csv", Columns(text="description", tags="tags"))
print(data)
print(texts[1000])

# %%
# With the vectorizer and the names attached, the forest accepts texts and returns names.
vectorizer = TfidfVectorizer(min_df=2)
forest = SketchForestClassifier(n_estimators=30, random_state=0, n_jobs=-1)
forest.fit(vectorizer.fit_transform(texts), data.Y)
forest.attach(label_names=data.label_names, vectorizer=vectorizer)

queries = ["Smallest value along an axis, ignoring NaN", "Fit a linear model with L1 penalty"]
for query, found in zip(queries, forest.suggest(queries, k=5), strict=True):
    print(query, "->", ", ".join(f"{tag} {score:.2f}" for tag, score in found))

# %%
# The most important words over all tags:
_ = forest.plot()
