"""Label hierarchies: labels that imply their ancestors, and scores consistent with them."""

from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np
from scipy import sparse

from sketchforest._utils.lazy import locked_property
from sketchforest._utils.sparse import checked_csr
from sketchforest._utils.typing import Matrix, MatrixLike
from sketchforest._utils.warning import deprecated_alias

__all__ = ["Ontology"]

# Sparse scores are densified in blocks of about this many numbers.
_BLOCK = 8_000_000


class Ontology:
    """Hierarchy of labels, a tree or a directed acyclic graph: each label implies its parents.

    Parameters
    ----------
    parents : sequence of sequences of int
        The column numbers of each label's parents; empty for a root.
    names : sequence of str, optional
        Label names.

    Attributes
    ----------
    parents : tuple of tuples of int
    names : (n_labels,) array of str or None
    n_labels : int
    depths : (n_labels,) int array
        Number of labels on the longest path to a root; 1 for a root.

    Examples
    --------
    >>> from sketchforest.ontology import Ontology
    >>> ontology = Ontology.from_edges([("poodle", "dog"), ("dog", "animal"), ("cat", "animal")])
    >>> ontology.names.tolist()
    ['poodle', 'dog', 'animal', 'cat']
    >>> ontology.ancestor_closure([[1, 0, 0, 0]])
    array([[1, 1, 1, 0]])
    >>> ontology.enforce_hierarchy([[0.6, 0.5, 0.9, 0.2]])
    array([[0.6, 0.6, 0.9, 0.2]])
    """

    def __init__(
        self, parents: Sequence[Sequence[int]], names: Sequence[str] | np.ndarray | None = None
    ) -> None:
        self.parents = tuple(tuple(int(parent) for parent in above) for above in parents)
        self.names = None if names is None else np.asarray(names, np.str_)
        if self.names is not None and len(self.names) != self.n_labels:
            raise ValueError(
                f"names must have one entry per label ({self.n_labels}); got {len(self.names)}."
            )
        for label, above in enumerate(self.parents):
            if not all(0 <= parent < self.n_labels for parent in above):
                raise ValueError(
                    f"parents must be label numbers from 0 to {self.n_labels - 1}; got {above} for "
                    f"label {label}."
                )
        self._order = self._topological_order()

    @classmethod
    def from_edges(
        cls,
        edges: Iterable[tuple[str, str]],
        names: Sequence[str] | np.ndarray | None = None,
    ) -> "Ontology":
        """Build an ontology from (label, parent) pairs of names.

        Parameters
        ----------
        edges : pairs of str
        names : sequence of str, optional
            The labels in the order of the columns of Y. By default, every name in `edges`, in
            order of first appearance. A parent that is not among `names` is replaced by its
            nearest ancestors that are.

        Returns
        -------
        Ontology

        Examples
        --------
        >>> Ontology.from_edges([("c", "b"), ("b", "a")], names=["a", "c"]).parents
        ((), (0,))
        """
        above: dict[str, list[str]] = {}
        for label, parent in edges:
            above.setdefault(str(label), []).append(str(parent))
            above.setdefault(str(parent), [])
        labels = list(above) if names is None else [str(name) for name in names]
        number = {name: at for at, name in enumerate(labels)}
        return cls([_nearest(name, above, number) for name in labels], labels)

    @classmethod
    def from_paths(cls, names: Sequence[str] | np.ndarray, separator: str = "/") -> "Ontology":
        """Build an ontology from names that are paths, such as "animal/dog/poodle".

        Parameters
        ----------
        names : sequence of str
            The labels in the order of the columns of Y.
        separator : str, default="/"

        Returns
        -------
        Ontology

        Examples
        --------
        >>> Ontology.from_paths(["animal", "animal/dog", "animal/dog/poodle"]).parents
        ((), (0,), (1,))
        """
        edges = []
        for name in names:
            parts = str(name).split(separator)
            paths = [separator.join(parts[:depth]) for depth in range(1, len(parts) + 1)]
            edges += list(zip(paths[1:], paths, strict=False))
        return cls.from_edges(edges, names)

    @property
    def n_labels(self) -> int:
        return len(self.parents)

    @locked_property
    def depths(self) -> np.ndarray:
        depths = np.ones(self.n_labels, np.int64)
        for label in self._order:
            depths[label] = 1 + max((depths[parent] for parent in self.parents[label]), default=0)
        return depths

    def ancestor_closure(self, Y: MatrixLike) -> Matrix:
        """Add to each row the ancestors of its labels.

        Parameters
        ----------
        Y : (n_samples, n_labels) array or scipy sparse matrix of zeros and ones

        Returns
        -------
        (n_samples, n_labels) array or CSR
            Same dtype as Y.

        Examples
        --------
        >>> Ontology([(), (0,)]).ancestor_closure([[0, 1], [0, 0]])
        array([[1, 1],
               [0, 0]])
        """
        given = self._checked(Y, "Y")
        closed = sparse.csr_array(given) @ self._with_ancestors
        closed.sort_indices()
        closed.data = np.ones(closed.nnz, given.dtype)
        return closed if sparse.issparse(given) else closed.toarray()

    def enforce_hierarchy(
        self, scores: MatrixLike, how: Literal["raise", "lower"] = "raise"
    ) -> Matrix:
        """Adjust scores so that no label scores higher than any of its parents.

        Parameters
        ----------
        scores : (n_samples, n_labels) array or scipy sparse matrix
            Non-negative scores.
        how : "raise" or "lower", default="raise"
            Raise each label to the highest score among its descendants, or lower it to the lowest
            score among its ancestors.

        Returns
        -------
        (n_samples, n_labels) array or CSR
            Same dtype as `scores`. Takes time proportional to n_samples times the number of edges.

        Examples
        --------
        >>> Ontology([(), (0,)]).enforce_hierarchy([[0.2, 0.7]], how="lower")
        array([[0.2, 0.2]])
        """
        if how not in ("raise", "lower"):
            raise ValueError(f"how must be 'raise' or 'lower'; got {how!r}.")
        given = self._checked(scores, "scores")
        if isinstance(given, np.ndarray):
            return self._enforced(given.copy(), how)
        n_rows = max(1, _BLOCK // max(1, self.n_labels))
        blocks = [
            sparse.csr_array(self._enforced(given[start : start + n_rows].toarray(), how))
            for start in range(0, given.shape[0], n_rows)
        ]
        return sparse.vstack(blocks, format="csr") if blocks else given.copy()

    respect = deprecated_alias("respect", enforce_hierarchy)
    close = deprecated_alias("close", ancestor_closure)

    def n_violations(self, scores: MatrixLike) -> int:
        """Count how often a label scores higher than one of its parents.

        Parameters
        ----------
        scores : (n_samples, n_labels) array or scipy sparse matrix

        Returns
        -------
        int

        Examples
        --------
        >>> Ontology([(), (0,)]).n_violations([[0.2, 0.7], [0.5, 0.5]])
        1
        """
        given = sparse.csc_array(self._checked(scores, "scores"))
        labels, above = self._edges
        return int((given[:, labels] > given[:, above]).sum()) if len(labels) else 0

    def __repr__(self) -> str:
        n_edges = len(self._edges[0])
        depth = int(self.depths.max(initial=0))
        return f"Ontology({self.n_labels} labels, {n_edges} parents, depth {depth})"

    def _enforced(self, scores: np.ndarray, how: str) -> np.ndarray:
        order = reversed(self._order) if how == "raise" else self._order
        for label in order:
            for parent in self.parents[label]:
                if how == "raise":
                    np.maximum(scores[:, parent], scores[:, label], out=scores[:, parent])
                else:
                    np.minimum(scores[:, parent], scores[:, label], out=scores[:, label])
        return scores

    @locked_property
    def _edges(self) -> tuple[np.ndarray, np.ndarray]:
        """Labels and their parents, one pair per edge."""
        pairs = [(label, parent) for label, above in enumerate(self.parents) for parent in above]
        labels, above = np.array(pairs, np.int64).reshape(-1, 2).T
        return labels, above

    @locked_property
    def _with_ancestors(self) -> sparse.csr_array:
        """(n_labels, n_labels): row l has ones at l and at all its ancestors."""
        found: dict[int, set[int]] = {}
        for label in self._order:
            found[label] = {label}.union(*(found[parent] for parent in self.parents[label]))
        columns = [sorted(found[label]) for label in range(self.n_labels)]
        starts = np.cumsum([0, *map(len, columns)])
        indices = np.concatenate([*columns, []]).astype(np.int64)
        ones = np.ones(len(indices), np.float32)
        return sparse.csr_array((ones, indices, starts), shape=(self.n_labels, self.n_labels))

    def _topological_order(self) -> list[int]:
        """Labels, parents before children; raises on cycles."""
        below: list[list[int]] = [[] for _ in self.parents]
        n_waiting = [len(above) for above in self.parents]
        for label, above in enumerate(self.parents):
            for parent in above:
                below[parent].append(label)
        order = [label for label, n in enumerate(n_waiting) if n == 0]
        for label in order:  # grows while being iterated
            for child in below[label]:
                n_waiting[child] -= 1
                if n_waiting[child] == 0:
                    order.append(child)
        if len(order) < self.n_labels:
            stuck = min(set(range(self.n_labels)) - set(order))
            name = stuck if self.names is None else repr(str(self.names[stuck]))
            raise ValueError(
                f"parents must not form a cycle; label {name} is on or below one. Remove one of "
                "its edges."
            )
        return order

    def _checked(self, matrix: MatrixLike, name: str) -> Matrix:
        checked = checked_csr(name, matrix) if sparse.issparse(matrix) else np.asarray(matrix)
        if checked.ndim != 2 or checked.shape[1] != self.n_labels:
            raise ValueError(
                f"{name} must be 2-d with one column per label of the ontology ({self.n_labels}); "
                f"got shape {checked.shape}."
            )
        return checked


def _nearest(name: str, above: dict[str, list[str]], number: dict[str, int]) -> list[int]:
    """The nearest ancestors of a name that are labels."""
    found: dict[int, None] = {}
    waiting, seen = list(above.get(name, ())), {name}
    while waiting:
        parent = waiting.pop(0)
        if parent in number:
            found[number[parent]] = None
        elif parent not in seen:
            seen.add(parent)
            waiting += above[parent]
    return list(found)
