"""
Suggest tags for texts
======================

Fit a tagger to texts and their tags, then let it suggest tags for new texts.
"""

# %%
# The table has a description and tags such as "numpy;axis=" for each function.
import pandas as pd

from sketchforest import SketchForestClassifier, Tagger

functions = pd.read_csv("functions.csv")
print(functions.description[1000], functions.tags[1000])

# %%
# A tagger takes texts and tags as they are.
estimator = SketchForestClassifier(n_estimators=30, random_state=0, n_jobs=-1)
tagger = Tagger(estimator, tag_separator=";").fit(functions.description, functions.tags)

queries = ["Smallest value along an axis, ignoring NaN", "Fit a linear model with L1 penalty"]
for query, found in zip(queries, tagger.suggest(queries, k=5), strict=True):
    print(query, "->", ", ".join(f"{tag} {score:.2f}" for tag, score in found))

# %%
# The most important words over all tags:
_ = tagger.estimator_.plot()
