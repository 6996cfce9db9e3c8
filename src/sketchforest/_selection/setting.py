"""A point in the search space, in terms of the parameters of estimators."""

from dataclasses import dataclass

from sketchforest.projection import ProjectionLike

SEARCHED = ("projection", "n_components", "max_features", "min_samples_leaf")
# Of mixed forests, in addition.
SEARCHED_IN_MIXED = ("oblique", "ridge", "min_samples_split")


@dataclass(frozen=True)
class Setting:
    """One point in the search space.

    `projection=None` searches splits on the original outputs. None for another parameter means that
    it is not searched and keeps its default.

    Examples
    --------
    >>> from sketchforest.tuning import Setting
    >>> str(Setting("random_forest", "gaussian", 32, 20, 2))
    'random forest, m=32, k=20, leaves of 2'
    """

    estimator: str
    projection: ProjectionLike
    n_components: int | None
    max_features: int
    min_samples_leaf: int | None
    row_share: float | None = None  # of rows that each tree sees
    oblique: float | None = None  # of mixed forests, like the next two
    ridge: float | None = None
    min_samples_split: int | None = None

    def params(self) -> dict[str, object]:
        names = SEARCHED if self.oblique is None else (*SEARCHED, *SEARCHED_IN_MIXED)
        params = {name: getattr(self, name) for name in names}
        if self.row_share is not None:
            params["max_samples"] = None if self.row_share == 1 else self.row_share
        return params

    @property
    def sees_all_rows(self) -> bool:
        return self.row_share == 1

    def __str__(self) -> str:
        return ", ".join(self.words().values())

    def words(self) -> dict[str, str]:
        """A phrase for each parameter in which settings can differ."""
        words = {"estimator": self.estimator.replace("_", " ")}
        if self.oblique is not None:
            words["oblique"] = f"{self.oblique:.0%} oblique"
            words["ridge"] = f"ridge {self.ridge:g}"
        words |= {"outputs": self.outputs, "max_features": f"k={self.max_features}"}
        if self.min_samples_leaf is not None:
            words["leaves"] = f"leaves of {self.min_samples_leaf}"
        if self.oblique is not None:
            least = self.min_samples_split
            words["nodes"] = "default min split" if least is None else f"min split {least}"
        if self.row_share is not None:
            words["rows"] = self.rows
        return words

    @property
    def outputs(self) -> str:
        """The outputs on which splits are searched, in words."""
        if self.projection is None:
            return "the original outputs"
        m = "default m" if self.n_components is None else f"m={self.n_components}"
        return m if self.projection == "gaussian" else f"{m} {self.projection}"

    @property
    def rows(self) -> str:
        """The rows that each tree sees, in words."""
        if self.row_share is None:
            return "default rows"
        return "all rows" if self.sees_all_rows else f"{self.row_share:.0%} of the rows"

    def difference_from(self, other: "Setting") -> str:
        """The differences from another setting, in words."""
        ours, theirs = self.words() | {"rows": self.rows}, other.words() | {"rows": other.rows}
        parts = [word for name, word in ours.items() if word != theirs.get(name)]
        return " with ".join([parts[0], ", ".join(parts[1:])]) if len(parts) > 1 else parts[0]
