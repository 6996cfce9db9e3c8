"""The trees of a forest as a list of estimators, which users may change."""

from dataclasses import replace
from operator import is_
from typing import ClassVar, NamedTuple

from sketchforest._estimators.base import TreesEstimator
from sketchforest._estimators.parameters import uses_tree_type_default
from sketchforest._trees.blended import blended
from sketchforest._trees.fitted import Fitted
from sketchforest._trees.model import Forest
from sketchforest._trees.predict import ForestPredictor
from sketchforest._trees.random import TreeSeed
from sketchforest._utils.lazy import lock_of

# Parameters that trees do not inherit: class weights are already in the weights of their rows.
NOT_INHERITED = ("class_weight", "random_state")
NAMES = ("label_names_", "feature_names_")


class Listed(NamedTuple):
    """The list given to the user, and the trees that the fitted model holds."""

    trees: list[TreesEstimator]
    known: tuple[TreesEstimator, ...]

    @property
    def is_unchanged(self) -> bool:
        return len(self.trees) == len(self.known) and all(map(is_, self.trees, self.known))


class TreeListMixin(TreesEstimator):
    """A forest that follows changes of its list of trees.

    It compares the list with its trees whenever the fitted model is read.
    """

    _tree_class: ClassVar[type[TreesEstimator]]

    @property
    def estimators_(self) -> list[TreesEstimator]:
        """The trees, as fitted single-tree estimators that share the forest's arrays.

        You may remove trees from the list, or add trees that were grown on the same labels.
        """
        fitted = super().fitted_  # not ours, which would look at the list
        with lock_of(fitted, "listed"):
            if "listed" not in vars(fitted):
                params = self._tree_params()
                numbers = range(fitted.forest.n_trees)
                trees = [self._single_tree(fitted, number, params) for number in numbers]
                vars(fitted)["listed"] = Listed(trees, tuple(trees))
            listed: Listed = vars(fitted)["listed"]
            return listed.trees

    @estimators_.setter
    def estimators_(self, trees: list[TreesEstimator]) -> None:
        with lock_of(self, "fitted_"):  # a concurrent fit must not replace the model meanwhile
            if self.estimators_ is not trees:
                derived = vars(self._fitted)
                derived["listed"] = derived["listed"]._replace(trees=trees)

    @property
    def fitted_(self) -> Fitted:
        """The fitted model. It is immutable; another fit or a change of `estimators_` replaces
        it."""
        fitted = super().fitted_
        listed = vars(fitted).get("listed")
        if listed is None or listed.is_unchanged:
            return fitted
        with lock_of(self, "fitted_"):
            if self._fitted is fitted:  # no other thread, nor a fit, was here first
                # Read again, as another list may have been assigned.
                self._publish(self._with_trees(fitted, vars(fitted)["listed"].trees))
        return self.fitted_

    def _tree_params(self) -> dict[str, object]:
        """The parameters that a single tree shares with the forest."""
        ours, theirs = self.get_params(deep=False), self._tree_class().get_params(deep=False)
        chosen = {"max_features": self.max_features_, "n_components": self.n_components_}
        params = {
            name: chosen[name] if name in chosen and ours[name] == "auto" else ours[name]
            for name in ours
            if name in theirs
            and name not in NOT_INHERITED
            and not uses_tree_type_default(name, ours[name])
        }
        return params | {"splitter": self._splitter}

    def _single_tree(
        self, fitted: Fitted, number: int, params: dict[str, object]
    ) -> TreesEstimator:
        forest = fitted.forest.only(number)
        tree = self._tree_class(**params)
        tree.random_state = TreeSeed.of(fitted.settings.seed, number)
        if forest.directions is not None:
            tree.splitter = "oblique"
        of_tree = replace(
            fitted,
            predictor=ForestPredictor.of(forest, fitted.targets),
            fingerprint=None,
            f1_thresholds=None,
            calibration=None,
            projection_stream=fitted.settings.projection_stream(number),
            out_of_bag={},
            attached={name: v for name, v in fitted.attached.items() if name in NAMES},
        )
        tree._publish(of_tree)
        return tree

    def _with_trees(self, fitted: Fitted, trees: list[TreesEstimator]) -> Fitted:
        known = tuple(trees)
        models = _models_of(known, fitted, self._tree_class)
        grown = [model.forest.tree(0) for model in models]
        forest = Forest.from_trees(grown, fitted.n_features, fitted.labels.shape[0])
        trees_alone = ForestPredictor.of(forest, fitted.targets)
        changed = fitted.but(predictor=blended(trees_alone, fitted.blend))
        vars(changed)["listed"] = Listed(trees, known)
        return changed


def _models_of(
    trees: tuple[TreesEstimator, ...], fitted: Fitted, kind: type[TreesEstimator]
) -> list[Fitted]:
    """The fitted models of trees, which must fit into the forest."""
    if not trees:
        raise ValueError("estimators_ must hold at least one tree; got none. Fit again instead.")
    for tree in trees:
        if not isinstance(tree, kind) or not tree.__sklearn_is_fitted__():
            raise ValueError(
                f"estimators_ must hold fitted trees of type {kind.__name__}; got {tree!r}."
            )
    models = [tree.fitted_ for tree in trees]
    for model in models:
        is_same = model.targets is fitted.targets or model.targets.equals(fitted.targets)
        if not is_same or model.n_features != fitted.n_features:
            raise ValueError(
                "estimators_ must hold trees that were grown on the labels and features of the "
                "forest, since their leaves refer to its rows; got one that was not. Use "
                "sklearn.ensemble.VotingClassifier or VotingRegressor for other trees."
            )
    return models
