"""The trees of a forest as a list of estimators, which is the user's to change."""

from operator import is_
from typing import ClassVar

from sklearn.utils.validation import check_is_fitted

from sketchforest._estimators.base import TreesEstimator
from sketchforest._estimators.parameters import is_by_kind
from sketchforest._trees.fitted import Fitted
from sketchforest._trees.model import Forest
from sketchforest._trees.predict import ForestPredictor
from sketchforest._trees.random import TreeSeed

# What a tree has of its forest, besides the parameters that both have.
OF_THE_FOREST = ("n_features_in_", "feature_names_in_", "label_names_", "feature_names_")
# Not said of a tree: its members have the weights of their classes, as they were drawn.
NOT_OF_A_TREE = ("class_weight", "random_state")


class TreeListMixin(TreesEstimator):
    """Trees that are put into the list, or taken out of it, are so in the forest, which looks at
    the list before its arrays are used."""

    _tree_class: ClassVar[type[TreesEstimator]]
    _listed: list[TreesEstimator]
    _known: list[TreesEstimator]  # the list as it was when the arrays were made

    @property
    def estimators_(self) -> list[TreesEstimator]:
        """The trees, each as a fitted single-tree estimator on the forest's own arrays. Some may
        be taken out of the list, or trees put into it that were grown on the same labels."""
        check_is_fitted(self)
        if "_listed" not in vars(self):
            params = self._tree_params()
            numbers = range(self._forest.n_trees)
            self._listed = [self._single_tree(number, params) for number in numbers]
            self._known = self._listed.copy()
        return self._listed

    @estimators_.setter
    def estimators_(self, trees: list[TreesEstimator]) -> None:
        if self.estimators_ is not trees:
            self._listed = trees

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

    def _single_tree(self, number: int, params: dict[str, object]) -> TreesEstimator:
        forest = self._forest.only(number)
        tree = self._tree_class(**params)
        tree.random_state = TreeSeed.of(self._settings.seed, number)
        if forest.directions is not None:
            tree.splitter = "oblique"
        tree.__dict__.update({name: v for name, v in vars(self).items() if name in OF_THE_FOREST})
        tree._keep(Fitted(forest, self._targets, self._settings))
        tree._is_relabelled = self._is_relabelled
        tree._number = self._settings.projection_stream(number)
        return tree

    def _follow_the_list(self) -> None:
        listed = vars(self).get("_listed")
        if listed is None:
            return
        if len(listed) == len(self._known) and all(map(is_, listed, self._known)):
            return
        self._check_listed(listed)
        forest = Forest.from_trees([tree._forest.tree(0) for tree in listed])
        self.__dict__["_forest"] = forest
        self.__dict__["_predictor"] = ForestPredictor.of(forest, self._targets)
        self._known = listed.copy()

    def _check_listed(self, listed: list[TreesEstimator]) -> None:
        if not listed:
            raise ValueError("estimators_ must hold at least one tree; got none. Fit anew.")
        for tree in listed:
            if not isinstance(tree, self._tree_class) or "_forest" not in vars(tree):
                raise ValueError(
                    f"estimators_ must hold fitted trees of type {self._tree_class.__name__}; "
                    f"got {tree!r}."
                )
            is_same = tree._targets is self._targets or tree._targets.equals(self._targets)
            if not is_same or tree.n_features_in_ != self.n_features_in_:
                raise ValueError(
                    "estimators_ must hold trees that were grown on the labels and features of the "
                    "forest, whose rows their leaves name; got one that was not. Use "
                    "sklearn.ensemble.VotingClassifier or VotingRegressor for trees of other rows."
                )

    def __getstate__(self) -> dict[str, object]:
        self._follow_the_list()
        state: dict[str, object] = super().__getstate__()
        # Each tree would be written once more.
        return {name: value for name, value in state.items() if name not in ("_listed", "_known")}

    @property
    def _forest(self) -> Forest:
        self._follow_the_list()
        forest: Forest = vars(self)["_forest"]
        return forest

    @_forest.setter
    def _forest(self, forest: Forest) -> None:
        for name in ("_listed", "_known"):
            self.__dict__.pop(name, None)
        self.__dict__["_forest"] = forest

    @property
    def _predictor(self) -> ForestPredictor:
        self._follow_the_list()
        predictor: ForestPredictor = vars(self)["_predictor"]
        return predictor

    @_predictor.setter
    def _predictor(self, predictor: ForestPredictor) -> None:
        self.__dict__["_predictor"] = predictor
