"""Split criteria. One object describes a criterion completely, here and in model files."""

import math
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Criterion:
    """The impurity that splits reduce, what leaves predict, and what the criterion allows."""

    name: str  # in model files
    native_name: str  # of the core's implementation
    native_name_for_labels: str = ""  # for multi-label Y
    # scikit-learn's unit of impurity in units of the core, such as one bit in nats.
    unit: float = 1.0
    label_unit: float = 1.0
    predicts_medians: bool = False  # leaves predict means otherwise
    # Only variances survive a projection, or dividing Y by a power of two. Oblique splits follow
    # the direction of largest variance.
    allows_projection: bool = False
    allows_shift: bool = True  # whether a constant may be added to Y
    is_for_counts: bool = False  # Y must not be negative

    def native_name_of(self, *, are_labels: bool) -> str:
        """The name of the core's implementation for labels, or for classes and numbers."""
        return self.native_name_for_labels if are_labels else self.native_name

    def scale(self, n_outputs: int, *, are_labels: bool) -> float:
        """The factor from the core's impurity, summed over outputs, to scikit-learn's mean."""
        return 1 / (n_outputs * (self.label_unit if are_labels else self.unit))

    def check(self, values: np.ndarray) -> None:
        """Raise if Y has no such impurity. Sparse Y passes its non-zeros."""
        if not self.is_for_counts:
            return
        if (values < 0).any():
            raise ValueError(
                "Some value(s) of y are negative which is not allowed for Poisson regression: "
                f"criterion={self.name!r} is for counts; got {values.min()}. Use 'squared_error'."
            )
        if not values.any():
            raise ValueError(
                "Sum of y is not strictly positive which is necessary for Poisson regression; got "
                "only zeros. If y is not positive, there is no Poisson deviance: use another "
                "criterion."
            )


# For indicators, this is the Gini impurity: 2 p (1 - p) is twice the variance of a label.
VARIANCE = Criterion("variance", "variance", "variance", label_unit=0.5, allows_projection=True)
ENTROPY = Criterion("entropy", "entropy", "label_entropy", unit=math.log(2), label_unit=math.log(2))
POISSON = Criterion("poisson", "poisson", allows_shift=False, is_for_counts=True)
ABSOLUTE_ERROR = Criterion("absolute_error", "absolute_error", predicts_medians=True)

CRITERIA = {each.name: each for each in (VARIANCE, ENTROPY, POISSON, ABSOLUTE_ERROR)}
# By the names of scikit-learn's parameter.
CLASSIFICATION_CRITERIA = {"gini": VARIANCE, "entropy": ENTROPY, "log_loss": ENTROPY}
REGRESSION_CRITERIA = {
    "squared_error": VARIANCE,
    "friedman_mse": VARIANCE,
    "absolute_error": ABSOLUTE_ERROR,
    "poisson": POISSON,
}
