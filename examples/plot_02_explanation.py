"""
Why this tag?
=============

What each word adds to the score of a tag, and the training rows that vote for it.
"""

# %%
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from sketchforest import SketchForestClassifier
from sketchforest.datasets import Columns, read_table

data, texts = read_table("functions.csv", Columns(text="description", tags="tags"))
vectorizer = TfidfVectorizer(min_df=2)
forest = SketchForestClassifier(n_estimators=30, random_state=0, n_jobs=-1)
forest.fit(vectorizer.fit_transform(texts), data.Y)
forest.attach(label_names=data.label_names, vectorizer=vectorizer)

# %%
# Scores are sums: from the share of the tag in all rows, word by word, to the prediction.
explanation = forest.explain(["Test whether two samples have the same mean"], label="stats")
explanation

# %%
_ = explanation.plot()

# %%
# Any label may be asked about: why not `random`?
why_not = forest.explain(["Test whether two samples have the same mean"], label="random")
print(np.round(why_not.scores, 3))
why_not.to_frame().head(3)
