"""
Multi-class classification
==========================

Like those of scikit-learn, classifiers accept a vector of classes of any type.
"""

# %%
import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.metrics import ConfusionMatrixDisplay
from sklearn.model_selection import cross_val_predict

from sketchforest import SketchForestClassifier

wine = load_wine()
classes = wine.target_names[wine.target]
forest = SketchForestClassifier(50, random_state=0)
predicted = cross_val_predict(forest, wine.data, classes, cv=3)
print(f"accuracy {(predicted == classes).mean():.3f}")

# %%
figure, axes = plt.subplots(figsize=(4, 4), layout="constrained")
_ = ConfusionMatrixDisplay.from_predictions(classes, predicted, ax=axes, colorbar=False)
