"""A point of the space that settings are chosen from, in the words of users."""

from dataclasses import dataclass

from sketchforest.projection import ProjectionLike

SEARCHED = ("projection", "n_components", "max_features", "min_samples_leaf")


@dataclass(frozen=True)
class Setting:
    """One point of the space. `n_components` is None, like `projection`, on original outputs."""

    estimator: str
    projection: ProjectionLike
    n_components: int | None
    max_features: int
    min_samples_leaf: int
    row_share: float | None = None  # of the rows, that a tree sees; None: as its estimator says

    def params(self) -> dict[str, object]:
        """As parameters of an estimator."""
        params = {name: getattr(self, name) for name in SEARCHED}
        if self.row_share is not None:
            params["max_samples"] = None if self.row_share == 1 else self.row_share
        return params

    @property
    def sees_all_rows(self) -> bool:
        return self.row_share == 1

    def __str__(self) -> str:
        m = "original outputs" if self.projection is None else f"m={self.n_components}"
        kind = "" if self.projection in (None, "gaussian") else f" {self.projection}"
        name = self.estimator.replace("_", " ")
        leaves = f"leaves of {self.min_samples_leaf}"
        rows = "" if self.row_share is None else f", {self.rows}"
        return f"{name}, {m}{kind}, k={self.max_features}, {leaves}{rows}"

    @property
    def rows(self) -> str:
        """What a tree sees, in words."""
        if self.row_share is None:
            return "the usual rows"
        return "all rows" if self.sees_all_rows else f"{self.row_share:.0%} of the rows"
