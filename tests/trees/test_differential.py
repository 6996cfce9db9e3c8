"""Trees on random problems against scikit-learn's: the same partition of the rows in every node, or
an equally good one. Where the two differ, the definition of a split says whether it is a tie."""

from dataclasses import dataclass, field

import numpy as np
import pytest
import reference
import sklearn_versions
from scipy import sparse
from sklearn import tree as sklearn_tree

from sketchforest import DecisionTreeClassifier, DecisionTreeRegressor

TOLERANCE = 1e-9  # of a node's own score: what sums of a few hundred floats leave in doubt


@dataclass
class Problem:
    """One data set, and limits on the growth of its tree."""

    X: np.ndarray
    y: np.ndarray
    weights: np.ndarray | None
    limits: dict[str, object]
    is_sparse: bool
    is_classification: bool
    criterion: str

    @property
    def is_by_variance(self) -> bool:
        return self.criterion in ("gini", "squared_error")

    @property
    def outputs(self) -> np.ndarray:
        """(n_rows, n_outputs) whose summed variance is the impurity that a split decreases; or
        classes and numbers themselves."""
        if not self.is_by_variance:
            codes = np.unique(self.y, return_inverse=True)[1] if self.is_classification else self.y
            return np.reshape(codes, (len(self.y), -1)).astype(float)
        if self.is_classification and self.y.ndim == 1:
            return (self.y[:, None] == np.unique(self.y)).astype(float)
        Y = np.reshape(self.y, (len(self.y), -1)).astype(float)
        return Y - Y.mean(axis=0)

    @property
    def impurity_scale(self) -> float:
        if not self.is_by_variance:
            return 1 / self.outputs.shape[1]
        if self.is_classification and self.y.ndim == 1:
            return 1.0
        return (2 if self.is_classification else 1) / self.outputs.shape[1]


def random_problem(seed: int) -> Problem:
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(5, 150)), int(rng.integers(1, 7))
    X = _features(rng, n, p)
    is_sparse = bool(rng.random() < 0.3)
    if is_sparse:
        X *= rng.random((n, p)) < 0.3
    elif rng.random() < 0.4 and sklearn_versions.SPLITS_MISSING_VALUES:
        X[rng.random((n, p)) < rng.choice([0.02, 0.2, 0.6])] = np.nan
    y, is_classification = _targets(rng, np.nan_to_num(X, nan=2.0))
    weights, limits = _weights(rng, n), _limits(rng, n)
    criterion = "gini" if is_classification else "squared_error"
    if seed % 2:
        others = ["entropy"] if is_classification else ["absolute_error", "poisson"]
        criterion = str(rng.choice(others))
    if criterion == "absolute_error" and not sklearn_versions.SPLITS_BY_ABSOLUTE_ERROR:
        criterion = "squared_error"
    has_missing = {  # in scikit-learn
        "absolute_error": False,
        "poisson": sklearn_versions.SPLITS_MISSING_VALUES_BY_POISSON,
    }
    if not has_missing.get(criterion, True):
        X = np.nan_to_num(X, nan=2.0)
    if criterion == "poisson":
        y = 1e-3 + np.abs(y) if rng.random() < 0.5 else np.abs(y).round()
        y.flat[0] = 1
    return Problem(X, y, weights, limits, is_sparse, is_classification, criterion)


def _features(rng, n, p):
    kind = rng.integers(4)
    if kind == 0:
        return rng.integers(0, 4, (n, p)).astype(np.float32)
    if kind == 1:
        return rng.normal(size=(n, p)).round(1).astype(np.float32)
    if kind == 2:
        return (1000 * rng.normal(size=(n, p))).astype(np.float32)
    return rng.random((n, p)).astype(np.float32)


def _targets(rng, X):
    noise = rng.normal(size=(len(X), 4)) * rng.choice([0.1, 1, 5])
    signal = (X / (1 + np.abs(X).max())) @ rng.normal(size=(X.shape[1], 4)) * 3 + noise
    match rng.integers(5):
        case 0:
            return rng.permutation(["c", "a", "b", "d"])[signal.argmax(axis=1)], True
        case 1:
            return (signal[:, 0] > 0).astype(int), True
        case 2:
            return (signal > 0.5).astype(int), True
        case 3:
            return signal[:, 0].round(int(rng.integers(0, 8))), False
    return signal.round(int(rng.integers(0, 8))), False


def _weights(rng, n):
    match rng.integers(4):
        case 0:
            return rng.exponential(size=n) + 0.01
        case 1:
            return rng.integers(1, 4, n).astype(float)
    return None


def _limits(rng, n):
    choices = {
        "max_depth": int(rng.integers(1, 8)),
        "min_samples_split": int(rng.integers(2, 20)),
        "min_samples_leaf": int(rng.integers(1, 9)),
        "min_weight_fraction_leaf": float(rng.random() * 0.2),
        "max_leaf_nodes": int(rng.integers(2, 20)),
        "min_impurity_decrease": float(rng.choice([1e-4, 1e-3, 1e-2])),
    }
    return {name: value for name, value in choices.items() if rng.random() < 0.25}


@dataclass
class Audit:
    """Walks down both trees at once, as long as they part the rows alike."""

    problem: Problem
    ours: object
    theirs: object
    n_ties: int = 0
    wrong: list[str] = field(default_factory=list)
    # Where only one tree goes on, while the number of leaves is limited.
    only_ours: list[float] = field(default_factory=list)
    only_theirs: list[float] = field(default_factory=list)

    def __post_init__(self):
        problem = self.problem
        self.Z = problem.outputs
        self.criterion = "variance" if problem.is_by_variance else problem.criterion
        self.weights = np.ones(len(self.Z)) if problem.weights is None else problem.weights
        self.min_rows = problem.limits.get("min_samples_leaf", 1)
        share = problem.limits.get("min_weight_fraction_leaf", 0.0)
        self.min_weight = share * self.weights.sum()

    def run(self):
        waiting = [(0, 0, np.arange(len(self.Z)))]
        while waiting:
            our_node, their_node, rows = waiting.pop()
            our_sides = self._sides(self.ours, our_node, rows)
            their_sides = self._sides(self.theirs, their_node, rows)
            if our_sides is None and their_sides is None:
                continue
            if our_sides is None or their_sides is None:
                self._one_goes_on(rows, our_sides, their_sides)
                continue
            order = _matching(our_sides, their_sides)
            if order is None:
                self._audit(rows, our_sides[0][1], their_sides[0][1])
                continue
            for (our_child, part), place in zip(our_sides, order, strict=True):
                waiting.append((our_child, their_sides[place][0], part))
        if self.n_ties == 0 and not np.allclose(
            np.sort(self.only_ours), np.sort(self.only_theirs), rtol=1e-6, atol=self._in_doubt()
        ):
            self.wrong.append(f"leaves {self.only_ours} against {self.only_theirs}")
        return self

    def _sides(self, tree, node, rows):
        """The children with their rows; None for a leaf."""
        if tree.children_left[node] < 0:
            return None
        x = self.problem.X[rows, tree.feature[node]].astype(float)
        left = np.where(np.isnan(x), tree.missing_go_to_left[node], x <= tree.threshold[node])
        left = left.astype(bool)
        return (
            (tree.children_left[node], rows[left]),
            (tree.children_right[node], rows[~left]),
        )

    def _in_doubt(self):
        return TOLERANCE * float(self.weights @ (self.Z**2).sum(axis=1))

    def _score(self, rows, part):
        Z, weights = self.Z[rows], self.weights[rows]
        return reference.split_score(Z, weights, np.isin(rows, part), self.criterion)

    def _gain(self, rows, part):
        Z, weights = self.Z[rows], self.weights[rows]
        return self._score(rows, part) - reference.node_score(Z, weights, self.criterion)

    def _audit(self, rows, our_part, their_part):
        """Both splits must be as good as any."""
        best = reference.best_split(
            self.problem.X[rows],
            self.Z[rows],
            self.weights[rows],
            self.min_rows,
            self.min_weight,
            self.criterion,
        )
        scores = [self._score(rows, part) for part in (our_part, their_part)]
        if min(scores) < best.score - self._in_doubt():
            self.wrong.append(f"{len(rows)} rows: scores {scores}, best {best.score}")
        self.n_ties += 1

    def _one_goes_on(self, rows, our_sides, their_sides):
        """Right where a gain is at a limit, or where leaves are limited and gains are equal."""
        sides = our_sides or their_sides
        gain = self._gain(rows, sides[0][1])
        limits, total = self.problem.limits, self.weights.sum()
        limit = limits.get("min_impurity_decrease", 0.0) * total / self.problem.impurity_scale
        if abs(gain - limit) <= self._in_doubt():
            self.n_ties += 1
        elif "max_leaf_nodes" in limits:
            (self.only_ours if our_sides else self.only_theirs).append(gain)
        else:
            who = "ours" if our_sides else "theirs"
            self.wrong.append(f"{len(rows)} rows: only {who} splits, with gain {gain}")


def _matching(our_sides, their_sides):
    """Which of their sides each of ours is; None where rows are parted in another way."""
    for order in ((0, 1), (1, 0)):
        if np.array_equal(our_sides[0][1], their_sides[order[0]][1]):
            return order
    return None


def audit(seed: int) -> Audit:
    problem = random_problem(seed)
    name = "DecisionTreeClassifier" if problem.is_classification else "DecisionTreeRegressor"
    kind = DecisionTreeClassifier if problem.is_classification else DecisionTreeRegressor
    X = sparse.csc_matrix(problem.X) if problem.is_sparse else problem.X
    params = {"random_state": seed, "criterion": problem.criterion, **problem.limits}
    ours = kind(projection=None, **params)
    theirs = getattr(sklearn_tree, name)(**params)
    ours.fit(X, problem.y, problem.weights)
    theirs.fit(X, problem.y, problem.weights)
    return Audit(problem, ours.tree_, theirs.tree_).run()


def check(seeds):
    audits = {seed: audit(seed) for seed in seeds}
    wrong = {seed: found.wrong for seed, found in audits.items() if found.wrong}
    assert not wrong
    # Most trees are free of ties: without them there would be little to compare.
    assert sum(found.n_ties == 0 for found in audits.values()) > len(audits) / 3


def test_trees_of_random_problems_are_scikit_learns_but_for_ties():
    check(range(150))


@pytest.mark.slow
def test_trees_of_3000_random_problems_are_scikit_learns_but_for_ties():
    check(range(150, 3150))
