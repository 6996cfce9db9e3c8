"""Explanations of scores and columns, for readers who do not know them."""

from collections.abc import Sequence

from sketchforest.metrics.meanings import meaning

_SCORES = {
    "lrap": "For each true label, the share of true labels among those ranked as high or higher, "
    "averaged over rows. 1 if all true labels come first.",
    "precision": "Share of true labels among the k most probable, for k = {ks}. A row with fewer "
    "than k true labels cannot reach 1.",
    "ndcg": "Like P@k, but higher ranks count more, and every row with labels can reach 1.",
    "psp": "Like P@k, but rare labels count more. 1 is the best possible.",
    "coverage_error": "Average number of top-ranked labels needed to include all true labels.",
    "micro_f1": "Harmonic mean of precision and recall over all predictions. Dominated by "
    "frequent labels.",
    "macro_f1": "F1 of each label, averaged. Rare labels count as much as frequent ones.",
    "average_precision": "How well the probability of a label ranks rows with the label above the "
    "others, at any threshold. Averaged over labels.",
    "calibration_error": "Gap between predicted probability and observed frequency, averaged over "
    "labels.",
    "log_loss": "Mean over rows and labels of -log p for true labels and -log(1 - p) for others, "
    "with probabilities p clipped to [0.001, 0.999]. 0 is perfect.",
    "mean_absolute_error": "Average absolute error, in the unit of the outputs.",
    "root_mean_squared_error": "Square root of the mean squared error, in the unit of the outputs. "
    "Large errors count more.",
    "r2": "Share of the variance of the outputs that is predicted. 1 is perfect; 0 is no better "
    "than predicting the mean.",
}
_SCORES_OF_CLASSES = {
    "lrap": "Mean of 1 / rank of the true class. 1 if it always comes first.",
    "precision": "Share of rows whose true class is among the k most probable, divided by k, for "
    "k = {ks}. P@1 is the accuracy.",
    "ndcg": "How high the true class ranks among the k most probable. 1 if it comes first.",
    "coverage_error": "Average rank of the true class.",
    "micro_f1": "Share of rows whose predicted class is correct: the accuracy.",
    "macro_f1": "F1 of each class, averaged. Rare classes count as much as frequent ones.",
}
BETTER = {"higher": "↑ higher is better", "lower": "↓ lower is better", "": ""}

COLUMNS = (
    ("label", "name of the label"),
    ("true", "test rows with the label"),
    ("predicted", "test rows for which the label is predicted"),
    ("precision", "share of predictions that are correct"),
    ("recall", "share of rows with the label for which it is predicted"),
    ("F1", "harmonic mean of precision and recall"),
    (
        "average precision",
        "how well its probability ranks rows with the label above the others, at any threshold",
    ),
    (
        "calibration error",
        "gap between its predicted probability and its observed frequency; lower is better",
    ),
)


def explain_score(names: Sequence[str], is_of_classes: bool = False) -> str:
    """Explain a score, perhaps at several values of k, in a sentence or two."""
    metric, at_k, _ = names[0].rpartition("_at_")
    metric = metric if at_k else names[0]
    known = {**_SCORES, **(_SCORES_OF_CLASSES if is_of_classes else {})}
    ks = ", ".join(name.rpartition("_at_")[2] for name in names)
    text = known.get(metric, meaning(names[0]).says).format(ks=ks)
    return of_classes(text) if is_of_classes else text


def of_classes(text: str) -> str:
    """Speak of classes instead of labels."""
    return text.replace("labels", "classes").replace("label", "class")
