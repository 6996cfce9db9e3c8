"""Descriptions of the parameters that metrics share."""

from functools import partial

from sketchforest._utils import docs
from sketchforest._utils.docs import Described

_INDICATOR = "(n_samples, n_labels) array or scipy sparse matrix"
PARAMETERS = {
    "Y_true": Described(_INDICATOR, "True labels, as zeros and ones."),
    "Y_score": Described(_INDICATOR, "Scores, higher is more likely. Entries not stored are 0."),
    "Y_pred": Described(_INDICATOR, "Predicted labels, as zeros and ones."),
    "Y_train": Described(_INDICATOR, "Labels of the training samples, as zeros and ones."),
    "k": Described("int", "Number of top-scored labels."),
    "sample_weight": Described(
        "(n_samples,) array or None", "Sample weights; None means equal weights."
    ),
    "A": Described("float", "How strongly propensities depend on the label's frequency."),
    "B": Described("float", "Number of samples added to each label's count."),
    "ontology": Described("Ontology", "Label hierarchy."),
}
# Decorator that adds the shared parameters to a docstring.
described = partial(docs.described, known=PARAMETERS)
