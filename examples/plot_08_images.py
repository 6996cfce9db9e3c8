"""
Label images
============

Predict ten digits and some shared properties from dense features, the pixels of handwritten digits.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from sketchforest import ExtraTreesClassifier, RandomForestClassifier, SketchForestClassifier
from sketchforest.metrics import lrap, precision_at_k

digits = load_digits()
about = {
    "even": [0, 2, 4, 6, 8],
    "has a hole": [0, 4, 6, 8, 9],
    "has a straight line": [1, 2, 4, 5, 7],
}
names = [*map(str, range(10)), *about]
Y = np.eye(10, dtype=np.uint8)[digits.target]
Y = np.hstack([Y, np.array([np.isin(digits.target, d) for d in about.values()], np.uint8).T])
X, X_test, Y, Y_test = digits.data[:1200], digits.data[1200:], Y[:1200], Y[1200:]

for kind in (RandomForestClassifier, ExtraTreesClassifier, SketchForestClassifier):
    forest = kind(50, random_state=0, n_jobs=-1).fit(X, Y)
    scores = forest.predict_proba(X_test)
    print(f"{kind.__name__}: LRAP {lrap(Y_test, scores):.4f}, ", end="")
    print(f"P@1 {precision_at_k(Y_test, scores, 1):.4f}")

# %%
# The image with the least certain digit, and the predicted probabilities:
unsure = int(scores[:, :10].max(axis=1).argmin())
figure, (image, bars) = plt.subplots(1, 2, figsize=(7, 3), layout="constrained")
image.imshow(X_test[unsure].reshape(8, 8), cmap="Greys")
image.set_axis_off()
bars.barh(names, scores[unsure], color="#0072b2")
_ = bars.set_xlabel("probability")
