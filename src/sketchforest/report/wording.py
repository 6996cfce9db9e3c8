"""What the scores and columns of a report say, for readers who meet them the first time."""

from collections.abc import Sequence

from sketchforest.metrics.meanings import meaning

_SCORES = {
    "lrap": "For each true label of a row: of the labels that rank as high or higher, the share "
    "that is true. The mean; 1 where all true labels come first.",
    "precision": "Of the k most probable labels of a row, the share that is true, for k = {ks}. A "
    "row with fewer than k true labels cannot reach 1.",
    "ndcg": "Like P@k, but a hit counts more the higher it ranks, and every row that has labels "
    "can reach 1.",
    "psp": "Like P@k, but hits of rare labels count more; 1 is the best that is possible.",
    "coverage_error": "How many of the most probable labels one must take to have all true ones of "
    "a row, on average.",
    "micro_f1": "Precision and recall of all decisions in one number, their harmonic mean. "
    "Frequent labels dominate.",
    "macro_f1": "F1 of each label, then the mean: rare labels count as much as frequent ones.",
    "average_precision": "How well the probability of a label ranks the rows that have it before "
    "the others, whatever the threshold; the mean over labels.",
    "calibration_error": "How far probabilities are from the share of rows in which they came "
    "true; the mean over labels.",
    "mean_absolute_error": "How far predictions are from the truth, in the unit of the outputs; "
    "the mean over rows and outputs.",
    "root_mean_squared_error": "The root of the mean of squared errors, in the unit of outputs: "
    "large errors count more.",
    "r2": "The share of the variance of the outputs that is predicted: 1 is perfect, 0 is no "
    "better than their mean.",
}
# Of classes, one for each row.
_SCORES_OF_CLASSES = {
    "lrap": "The mean of 1 / rank of the true class; 1 where it always comes first.",
    "precision": "The share of rows whose true class is among the k most probable, divided by k, "
    "for k = {ks}. For k = 1 it is the accuracy.",
    "ndcg": "How high the true class ranks among the k most probable; 1 where it comes first.",
    "coverage_error": "The rank of the true class, on average.",
    "micro_f1": "The share of rows whose predicted class is true: the accuracy again.",
    "macro_f1": "F1 of each class, then the mean: rare classes count as much as frequent ones.",
}
BETTER = {"higher": "↑ higher is better", "lower": "↓ lower is better", "": ""}

COLUMNS = (
    ("label", "its name"),
    ("true", "test rows that have it"),
    ("predicted", "test rows for which it is predicted"),
    ("precision", "share of the predicted that are true"),
    ("recall", "share of the true that are predicted"),
    ("F1", "both in one number, their harmonic mean"),
    (
        "average precision",
        "how well its probability ranks rows that have it before others, whatever the threshold",
    ),
    (
        "calibration error",
        "how far its probabilities are from the share of rows in which they came true; "
        "lower is better",
    ),
)


def explained(names: Sequence[str], is_of_classes: bool = False) -> str:
    """A score, perhaps at several depths, in a sentence or two."""
    metric, at, _ = names[0].rpartition("_at_")
    metric = metric if at else names[0]
    known = {**_SCORES, **(_SCORES_OF_CLASSES if is_of_classes else {})}
    ks = ", ".join(name.rpartition("_at_")[2] for name in names)
    text = known.get(metric, meaning(names[0]).says).format(ks=ks)
    return of_classes(text) if is_of_classes else text


def of_classes(text: str) -> str:
    """The same of classes, where it speaks of labels."""
    return text.replace("labels", "classes").replace("label", "class")
