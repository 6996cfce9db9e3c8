"""
Predict gene functions with an ontology
=======================================

In an ontology, each label implies its ancestors. If all rows of Y include these ancestors, so do
averages of rows, and the scores of trees are consistent with the ontology. Decisions with one
threshold per label may not be, unless you pass the ontology to `predict`.
"""

# %%
# The ontology is a tree with three levels. The labels of each gene are two leaves of this tree and
# their ancestors, and its expression profile depends on these labels.
import matplotlib.pyplot as plt
import numpy as np

from sketchforest import SketchForestClassifier
from sketchforest.metrics import hierarchical_f1, lrap
from sketchforest.ontology import Ontology

rng = np.random.default_rng(0)
names = ["metabolism", "transport", "signalling"]
edges = [(f"{top}/{i}", top) for top in names for i in range(3)]
edges += [(f"{middle}/{j}", middle) for middle, _ in edges for j in range(2)]
ontology = Ontology.from_edges(edges)
print(ontology)

# %%
leaves = np.flatnonzero(ontology.depths == 3)
own = np.zeros((600, ontology.n_labels), np.uint8)
own[np.arange(600)[:, None], rng.choice(leaves, (600, 2))] = 1
Y = ontology.ancestor_closure(own)
profiles = rng.normal(size=(ontology.n_labels, 40))
X = Y @ profiles + rng.normal(0, 3.0, (600, 40))

# Only averages of rows are consistent: leave out the linear part.
forest = SketchForestClassifier(
    50, linear=0, label_correlations=False, random_state=0, n_jobs=-1
).fit(X[:400], Y[:400])
scores = forest.predict_proba(X[400:])
print(f"LRAP {lrap(Y[400:], scores):.3f}; {ontology.n_violations(scores)} labels above a parent")

# %%
# With one threshold per label, a label may be predicted without its parent.
forest.set_params(threshold="f1-per-label")
decided = forest.predict(X[400:])
print(f"{ontology.n_violations(decided)} labels without their parent")
print(f"hierarchical F1 {hierarchical_f1(Y[400:], decided, ontology):.3f}")
completed = forest.predict(X[400:], ontology=ontology)
print(f"hierarchical F1 {hierarchical_f1(Y[400:], completed, ontology):.3f} with parents added")

# %%
# Deeper labels are rarer, and harder to predict.
true = Y[400:] > 0
recall = (np.asarray(completed) & true).sum(axis=0) / true.sum(axis=0)
depths = ontology.depths
plt.scatter(depths + rng.uniform(-0.1, 0.1, len(depths)), recall)
plt.xticks(range(depths.min(), depths.max() + 1))
plt.xlabel("depth in the ontology")
plt.ylabel("recall of a label")
plt.show()
