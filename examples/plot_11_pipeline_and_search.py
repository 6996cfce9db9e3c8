"""
Pipelines and grid search
=========================

The estimators work with scikit-learn's pipelines, column transformers, searches and scorers.
"""

# %%
import matplotlib.pyplot as plt
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from sketchforest import RandomForestClassifier
from sketchforest.metrics import lrap_scorer

rows = pd.read_csv("questions.csv")
Y = rows["tags"].str.get_dummies(";")
model = make_pipeline(
    make_column_transformer((TfidfVectorizer(), "question")),
    RandomForestClassifier(30, random_state=0),
)
search = GridSearchCV(
    model,
    {
        "randomforestclassifier__n_components": [1, None],
        "randomforestclassifier__min_samples_leaf": [1, 2],
    },
    scoring=lrap_scorer,
    cv=3,
).fit(rows, Y)
print(search.best_params_, f"{search.best_score_:.3f}")

# %%
found = pd.DataFrame(search.cv_results_)
names = [", ".join(map(str, params.values())) for params in found["params"]]
plt.barh(names, found["mean_test_score"], xerr=found["std_test_score"])
plt.xlabel("LRAP (mean and standard deviation over folds)")
plt.ylabel("min_samples_leaf, n_components")
plt.show()

# %%
# The columns of a data frame Y become label names.
forest = search.best_estimator_[-1]
new = search.best_estimator_[:-1].transform(pd.DataFrame({"question": ["Can soup be frozen?"]}))
print(forest.suggest(new, k=2))
