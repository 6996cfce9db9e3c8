"""All ranking metrics, for tests of their common behavior."""

from functools import partial

import numpy as np
import pytest

from sketchforest.metrics import (
    coverage_error,
    label_ranking_loss,
    lrap,
    ndcg_at_k,
    precision_at_k,
    psp_at_k,
)


def psp_with_rising_propensities(Y, S, k, **kwargs):
    return psp_at_k(Y, S, np.linspace(0.1, 1, S.shape[-1]), k, **kwargs)


ALL_METRICS = {
    "lrap": lrap,
    "lrap_one": partial(lrap, no_label_rows="one"),
    "coverage_error": coverage_error,
    "label_ranking_loss": label_ranking_loss,
    **{f"precision_at_{k}": partial(precision_at_k, k=k) for k in (1, 3)},
    **{f"ndcg_at_{k}": partial(ndcg_at_k, k=k) for k in (1, 3)},
    **{f"psp_at_{k}": partial(psp_with_rising_propensities, k=k) for k in (1, 3)},
}
each_metric = pytest.mark.parametrize("metric", ALL_METRICS.values(), ids=ALL_METRICS)
