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
    'random forest, n_components=32, max_features=20, min_samples_leaf=2'
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
        return ", ".join(word for word in self.words().values() if not word.startswith("default"))

    def words(self) -> dict[str, str]:
        """The parameters in which settings can differ, as a user sets them."""
        words = {"estimator": self.estimator.replace("_", " ")}
        if self.oblique is not None:
            words |= {"oblique": f"oblique={self.oblique:g}", "ridge": f"ridge={self.ridge:g}"}
        words |= {"outputs": self.outputs, "max_features": f"max_features={self.max_features}"}
        if self.min_samples_leaf is not None:
            words["leaves"] = f"min_samples_leaf={self.min_samples_leaf}"
        if self.oblique is not None:
            least = self.min_samples_split
            default = "default min_samples_split"
            words["nodes"] = default if least is None else f"min_samples_split={least}"
        if self.row_share is not None:
            words["rows"] = self.rows
        return words

    @property
    def outputs(self) -> str:
        """The outputs on which splits are searched."""
        if self.projection is None:
            return "projection=None"
        m = self.n_components
        m_words = "default n_components" if m is None else f"n_components={m}"
        return (
            m_words
            if self.projection == "gaussian"
            else f"projection={self.projection!r}, {m_words}"
        )

    @property
    def rows(self) -> str:
        """The rows that each tree sees."""
        if self.row_share is None:
            return "default max_samples"
        return "all rows" if self.sees_all_rows else f"max_samples={self.row_share:g}"

    def difference_from(self, other: "Setting") -> str:
        """The differences from another setting, in words."""
        ours, theirs = self.words() | {"rows": self.rows}, other.words() | {"rows": other.rows}
        return ", ".join(word for name, word in ours.items() if word != theirs.get(name))
