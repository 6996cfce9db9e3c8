"""A boosted model is served and described like a forest."""

import numpy as np
import pytest

pytest.importorskip("starlette", reason="needs sketchforest[serve]")

from sketchforest import SketchBoostingClassifier
from sketchforest.datasets import make_multilabel
from sketchforest.serve.served_model import ModelSource, ServedModel


def test_a_boosted_model_is_served(tmp_path):
    data = make_multilabel(120, 20, 8, labels_per_row=2, features_per_row=6, random_state=0)
    model = SketchBoostingClassifier(max_iter=5, min_samples_leaf=5, random_state=0)
    model.fit(data.X, data.Y)
    names = [f"tag{i}" for i in range(8)]
    model.save(tmp_path / "model.sf", label_names=names)
    served = ServedModel.load(ModelSource("model", tmp_path / "model.sf"))
    row = data.X.toarray()[3]
    [found] = served.suggest([row.tolist()], 3)
    labels, scores = model.predict_topk(data.X[[3]], 3)
    assert [each["label"] for each in found] == [names[i] for i in labels[0]]
    np.testing.assert_allclose([each["score"] for each in found], scores[0], atol=1e-6)
    explained = served.explain(row.tolist(), None, 2, 3)
    assert [each["label"] for each in explained["labels"]] == [names[i] for i in labels[0][:2]]
    assert explained["similar"] == []
    assert served.info()["trees"] == 5
