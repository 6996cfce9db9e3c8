"""
Explain a prediction
====================

Show what each word contributes to the score of a tag, and which training rows support it.
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
# Contributions are additive: the share of the tag among all rows plus the contribution of each word
# is the score.
explanation = forest.explain(["Test whether two samples have the same mean"], label="stats")
explanation

# %%
_ = explanation.plot()

# %%
# You can ask about any label. Why not `random`?
why_not = forest.explain(["Test whether two samples have the same mean"], label="random")
print(np.round(why_not.scores, 3))
why_not.to_frame().head(3)
