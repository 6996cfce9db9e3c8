"""Forests whose fits are interrupted."""

from sketchforest import (
    ExtraTreesClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    SketchForestClassifier,
)

FORESTS = {
    "random forest": RandomForestClassifier(12, n_components=5, random_state=0),
    "one projection, scored": RandomForestClassifier(
        12, n_components=5, shared_projection=True, oob_score=True, random_state=0
    ),
    "extra-trees": ExtraTreesClassifier(12, projection=None, random_state=0),
    "oblique": SketchForestClassifier(12, linear=0, label_correlations=False, random_state=0),
    "pruned": RandomForestRegressor(12, ccp_alpha=0.001, random_state=0),
    "settings chosen": RandomForestClassifier(
        60, max_features="auto", n_components="auto", random_state=0
    ),
    "number chosen": RandomForestClassifier("auto", random_state=0),
}
