"""The classes of a CLUS file: a tree of paths or a graph of edges."""

from collections.abc import Iterable

from sketchforest.datasets._arff_header import Attribute
from sketchforest.datasets._text import AnyPath, bad_file, shown

_ROOT = "root"


class Hierarchy:
    """Its nodes in the order of the file, without the root, and the ancestors of each.

    A tree lists paths, ``a,a/b,a/b/c``, and a node is called by its path. A graph lists edges from
    parent to child, starting at ``root``, and a node is called by its own name.
    """

    def __init__(self, path: AnyPath, attribute: Attribute) -> None:
        self._path = path
        self._line = attribute.line
        items = [item for item in attribute.values if item]
        if not items:
            raise bad_file(path, attribute.line, "the hierarchy has no classes")
        is_graph = all(item.count("/") == 1 for item in items) and any(
            item.startswith(f"{_ROOT}/") for item in items
        )
        self._parents = _graph(items) if is_graph else _tree(items)
        self._parents.pop(_ROOT, None)
        self._positions = {node: position for position, node in enumerate(self._parents)}
        self._closures: dict[str, frozenset[int]] = {}
        self._check_acyclic()

    @property
    def nodes(self) -> list[str]:
        return list(self._parents)

    @property
    def edges(self) -> list[tuple[str, str]]:
        """Nodes, and a parent of each; the root is none."""
        pairs = ((node, parent) for node, above in self._parents.items() for parent in above)
        return [(node, parent) for node, parent in pairs if parent in self._parents]

    def labels(self, line: int, text: str, ancestors: bool) -> list[int]:
        """The positions of the nodes in ``a/b@c``, sorted."""
        labels: set[int] = set()
        for name in text.split("@") if text else []:
            node = name.strip()
            if node not in self._positions:
                reason = f"class {shown(node)} is not in the hierarchy of line {self._line}"
                raise bad_file(self._path, line, reason)
            labels |= self._with_ancestors(node) if ancestors else {self._positions[node]}
        return sorted(labels)

    def _with_ancestors(self, node: str) -> frozenset[int]:
        if node not in self._closures:
            seen, waiting = {node}, [node]
            while waiting:
                for parent in self._parents[waiting.pop()]:
                    if parent in self._parents and parent not in seen:
                        seen.add(parent)
                        waiting.append(parent)
            self._closures[node] = frozenset(self._positions[name] for name in seen)
        return self._closures[node]

    def _check_acyclic(self) -> None:
        """Takes away nodes without waiting parents until none is left: those on a cycle stay."""
        children: dict[str, list[str]] = {node: [] for node in self._parents}
        n_waiting = {}
        for node, parents in self._parents.items():
            known = [parent for parent in parents if parent in self._parents]
            n_waiting[node] = len(known)
            for parent in known:
                children[parent].append(node)
        ready = [node for node, count in n_waiting.items() if count == 0]
        n_done = 0
        while ready:
            n_done += 1
            for child in children[ready.pop()]:
                n_waiting[child] -= 1
                if n_waiting[child] == 0:
                    ready.append(child)
        if n_done < len(self._parents):
            node = next(node for node, count in n_waiting.items() if count > 0)
            reason = f"the hierarchy has a cycle, and class {shown(node)} is on it or below it"
            raise bad_file(self._path, self._line, reason)


def _tree(paths: Iterable[str]) -> dict[str, list[str]]:
    parents: dict[str, list[str]] = {}
    for path in paths:
        parts = path.split("/")
        # A path implies those above it, which are not always listed.
        for depth in range(1, len(parts) + 1):
            node, parent = "/".join(parts[:depth]), "/".join(parts[: depth - 1])
            parents.setdefault(node, [parent] if parent else [])
    return parents


def _graph(edges: Iterable[str]) -> dict[str, list[str]]:
    parents: dict[str, list[str]] = {}
    for edge in edges:
        parent, _, child = edge.partition("/")
        parents.setdefault(parent, [])
        known = parents.setdefault(child, [])
        if parent not in known:
            known.append(parent)
    return parents
