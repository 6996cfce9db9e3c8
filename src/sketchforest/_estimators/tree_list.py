"""The trees of a forest as a list of estimators, which is the user's to change."""

from operator import is_
from typing import ClassVar, NamedTuple

from sketchforest._estimators.base import TreesEstimator
from sketchforest._estimators.parameters import is_by_kind
from sketchforest._trees.fitted import Fitted
from sketchforest._trees.model import Forest
from sketchforest._trees.predict import ForestPredictor
from sketchforest._trees.random import TreeSeed
from sketchforest._utils.lazy import lock_of

# Not said of a tree: its members have the weights of their classes, as they were drawn.
NOT_OF_A_TREE = ("class_weight", "random_state")
NAMES = ("label_names_", "feature_names_")


class Listed(NamedTuple):
    """The list, and its trees as they are in the forest's arrays."""

    trees: list[TreesEstimator]
    known: tuple[TreesEstimator, ...]

    @property
    def is_known(self) -> bool:
        return len(self.trees) == len(self.known) and all(map(is_, self.trees, self.known))


class TreeListMixin(TreesEstimator):
    """Trees that are put into the list, or taken out of it, are so in the forest, which looks at
    the list whenever its fitted model is asked for."""

    _tree_class: ClassVar[type[TreesEstimator]]

    @property
    def estimators_(self) -> list[TreesEstimator]:
        """The trees, each as a fitted single-tree estimator on the forest's own arrays. Some may
        be taken out of the list, or trees put into it that were grown on the same labels."""
        fitted = super().fitted_  # whatever the list holds by now
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
        with lock_of(self, "fitted_"):  # until the list is that of the model, no fit replaces it
            if self.estimators_ is not trees:
                derived = vars(self._fitted)
                derived["listed"] = derived["listed"]._replace(trees=trees)

    @property
    def fitted_(self) -> Fitted:
        """The fitted model, which never changes: a later fit makes another one, and so does a
        change of `estimators_`."""
        fitted = super().fitted_
        listed = vars(fitted).get("listed")
        if listed is None or listed.is_known:
            return fitted
        with lock_of(self, "fitted_"):
            if self._fitted is fitted:  # another thread may have been here, or a fit
                # The list as it is by now: another may have been assigned.
                self._publish(self._with_trees(fitted, vars(fitted)["listed"].trees))
        return self.fitted_

    def _tree_params(self) -> dict[str, object]:
        """The parameters of a single tree that is grown like those of the forest."""
        ours, theirs = self.get_params(deep=False), self._tree_class().get_params(deep=False)
        chosen = {"max_features": self.max_features_, "n_components": self.n_components_}
        params = {
            name: chosen[name] if name in chosen and ours[name] == "auto" else ours[name]
            for name in ours
            if name in theirs and name not in NOT_OF_A_TREE and not is_by_kind(name, ours[name])
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
        tree._publish(
            Fitted(
                ForestPredictor.of(forest, fitted.targets),
                fitted.targets,
                fitted.settings,
                fitted.n_features,
                fitted.feature_names,
                is_relabelled=fitted.is_relabelled,
                projection_stream=fitted.settings.projection_stream(number),
                attached={name: v for name, v in fitted.attached.items() if name in NAMES},
            )
        )
        return tree

    def _with_trees(self, fitted: Fitted, trees: list[TreesEstimator]) -> Fitted:
        known = tuple(trees)
        models = _models_of(known, fitted, self._tree_class)
        grown = [model.forest.tree(0) for model in models]
        forest = Forest.from_trees(grown, fitted.n_features, fitted.labels.shape[0])
        changed = fitted.but(predictor=ForestPredictor.of(forest, fitted.targets))
        vars(changed)["listed"] = Listed(trees, known)
        return changed


def _models_of(
    trees: tuple[TreesEstimator, ...], fitted: Fitted, kind: type[TreesEstimator]
) -> list[Fitted]:
    """Those of trees that may be in the forest."""
    if not trees:
        raise ValueError("estimators_ must hold at least one tree; got none. Fit anew.")
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
                "forest, whose rows their leaves name; got one that was not. Use "
                "sklearn.ensemble.VotingClassifier or VotingRegressor for trees of other rows."
            )
    return models
