"""
Pipelines and grid search
=========================

The estimators work with scikit-learn's pipelines, column transformers, searches and scorers.
"""

# %%
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from sketchforest import RandomForestClassifier
from sketchforest.metrics import lrap

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
    scoring=make_scorer(lrap, response_method="predict_proba"),
    cv=3,
).fit(rows, Y)
print(search.best_params_, f"{search.best_score_:.3f}")

# %%
# The columns of a data frame Y become label names.
forest = search.best_estimator_[-1]
new = search.best_estimator_[:-1].transform(pd.DataFrame({"question": ["Can soup be frozen?"]}))
print(forest.suggest(new, k=2))
