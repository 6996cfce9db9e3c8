"""Multi-label ARFF: MULAN (with an XML file), MEKA (``-C n``) and CLUS (hierarchical)."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal
from xml.etree import ElementTree

import numpy as np
from scipy import sparse

from sketchforest.datasets._arff import ArffRows, Attribute, Header, read_header, unescaped
from sketchforest.datasets._rows import FLOAT32_MAX, Rows, check_filled, compact, csr
from sketchforest.datasets._shared_docs import round_trip
from sketchforest.datasets._text import (
    AnyPath,
    bad_file,
    beside,
    numbered_lines,
    shown,
    stem,
    text_writer,
)
from sketchforest.datasets._writing import check_finite, column_names, pair_text
from sketchforest.datasets.dataset import Dataset
from sketchforest.ontology import Ontology

Convention = Literal["mulan", "meka", "clus"]
Labels = int | str | Path | Sequence[str]

_PLAIN_NAME = re.compile(r"[^\s,{}%'\"\\?][^\s,{}'\"\\]*")
_ROOT = "root"  # of a hierarchy given as a graph


@round_trip("read_arff", "write_arff", "tags.arff")
def read_arff(
    path: AnyPath,
    labels: Labels | None = None,
    xml: AnyPath | None = None,
    *,
    ancestors: bool = True,
    drop: Iterable[str] = (),
    convention: Convention | None = None,
) -> Dataset:
    """Read a multi-label ARFF file.

    Pass ``labels`` or ``xml`` to say which attributes are labels. Otherwise the file decides: a
    hierarchical attribute (CLUS), an XML file beside it (MULAN; ``data.xml`` for
    ``data-train.arff``), or ``-C n`` in its relation (MEKA), in this order.

    A binary feature (0/1, no/yes) becomes one column, and any other nominal feature one column
    ``name=value`` per value. Missing numbers are NaN; a missing nominal value is all zeros. Every
    node of a hierarchy is a label.

    Parameters
    ----------
    labels : int, sequence of str, or path, optional
        The number of labels at the end, their names, or the path of a MULAN XML file.
    xml : str or path, optional
        The path of a MULAN XML file.
    ancestors : bool, default=True
        Whether to add the ancestors of each row's labels in a hierarchy.
    drop : iterable of str
        Names of features to leave out.
    convention : "mulan", "meka" or "clus", optional
        Where to find the labels, if not by the order above.
    """
    lines = numbered_lines(path)
    header = read_header(path, lines)
    chosen = _label_positions(path, header, labels, xml, convention)
    is_hierarchy = chosen == [header.hierarchical]
    left_out = _left_out(path, header, set(drop), chosen)
    reader = ArffRows(path, header.attributes)
    matrix = reader.read(lines).tocsc()
    # Where a sparse row leaves out such an attribute, X or Y gets a one.
    n_filled = sum(a.kind == "nominal" and a.positive != 1 for a in header.attributes)
    check_filled(path, matrix.shape[0], n_filled, reader.n_given)
    ontology = None
    if is_hierarchy:
        ontology = _ontology(path, header.attributes[header.hierarchical or 0])
        Y, label_names = _hierarchical_labels(path, header, reader, ontology, ancestors)
    else:
        Y, label_names = _flat_labels(path, header, reader, matrix, chosen)
    features = [at for at in range(len(header.attributes)) if at not in {*left_out, *chosen}]
    X, feature_names = _columns(matrix, header, features)
    return Dataset(
        name=stem(path),
        X=compact(X),
        Y=Y,
        feature_names=np.array(feature_names, np.str_),
        label_names=np.array(label_names, np.str_),
        ontology=ontology,
    )


def read_ontology(path: AnyPath) -> Ontology:
    """Read the label hierarchy of a CLUS file.

    Parameters
    ----------
    path : str or path
        An ARFF file with a hierarchical attribute.

    Returns
    -------
    Ontology
        With the labels in the order of the columns of Y.

    Examples
    --------
    >>> from pathlib import Path
    >>> from sketchforest.datasets import read_ontology
    >>> lines = ["@relation genes", "@attribute x numeric"]
    >>> lines += ["@attribute class hierarchical a,a/b,a/b/c", "@data", "1.5,a/b"]
    >>> _ = Path("genes.arff").write_text("\\n".join(lines))
    >>> read_ontology("genes.arff")
    Ontology(3 labels, 2 parents, depth 3)
    """
    header = read_header(path, numbered_lines(path))
    if header.hierarchical is None:
        raise bad_file(path, None, "it has no hierarchical attribute")
    return _ontology(path, header.attributes[header.hierarchical])


@round_trip("read_arff", "write_arff", "tags.arff")
def write_arff(dataset: Dataset, path: AnyPath) -> None:
    """Write a sparse MEKA ARFF file, labels first (``-C n``).

    Unnamed features are called ``feature0``, ..., and labels ``label0``, ... The format cannot hold
    splits.
    """
    check_finite(dataset, FLOAT32_MAX)
    n_labels = dataset.Y.shape[1]
    binary = dataset.X.dtype == np.uint8 and bool(np.all(dataset.X.data == 1))
    rows = sparse.hstack([dataset.Y.astype(dataset.X.dtype), dataset.X], format="csr")
    with text_writer(path) as file:
        file.write(f"@relation {_quoted(f'{dataset.name}: -C {n_labels}')}\n\n")
        for name in column_names(dataset.label_names, n_labels, "label"):
            file.write(f"@attribute {_quoted(name)} {{0,1}}\n")
        kind = "{0,1}" if binary else "numeric"
        for name in column_names(dataset.feature_names, dataset.X.shape[1], "feature"):
            file.write(f"@attribute {_quoted(name)} {kind}\n")
        file.write("\n@data\n")
        for pairs in pair_text(sparse.csr_array(rows), between=" ", after=","):
            file.write(f"{{{pairs}}}\n")


def read_label_xml(path: AnyPath) -> list[str]:
    """The label names in a MULAN XML file, nested ones in document order."""
    text = b"\n".join(line for _, line in numbered_lines(path))
    try:
        root = ElementTree.fromstring(text)
    except (ElementTree.ParseError, ValueError, LookupError) as error:
        line, _ = getattr(error, "position", (None, None))
        raise bad_file(path, line, f"the XML is invalid ({error})") from None
    elements = [element for element in root.iter() if element.tag.rpartition("}")[2] == "label"]
    names = [element.get("name") for element in elements]
    if not names or None in names:
        raise bad_file(path, None, "it must contain <label name=...> elements")
    return [name for name in names if name is not None]


def _label_positions(
    path: AnyPath,
    header: Header,
    labels: Labels | None,
    xml: AnyPath | None,
    convention: Convention | None,
) -> list[int]:
    """The positions of the label attributes, or of the hierarchical one."""
    if labels is not None and xml is not None:
        raise ValueError(f"labels and xml must not be passed together; got labels={labels!r}.")
    if isinstance(labels, (int, np.integer)):
        if labels < 1:
            raise ValueError(f"labels must be at least 1 if given as a number; got {labels}.")
        return _counted(path, header, -int(labels), "labels")
    if isinstance(labels, (str, Path)):
        xml = labels
    elif labels is not None:
        return _named(path, header, list(labels), None)
    elif xml is None and convention in (None, "clus") and header.hierarchical is not None:
        return [header.hierarchical]
    elif xml is None and convention in (None, "mulan"):
        xml = _xml_beside(path)
    if xml is not None:
        return _named(path, header, read_label_xml(xml), Path(xml))
    if convention in (None, "meka") and header.meka_labels is not None:
        return _counted(path, header, header.meka_labels, "-C in @relation")
    reason = f"it does not say which attributes are labels; put {stem(path)}.xml beside it"
    raise bad_file(path, None, f"{reason} or pass labels")


def _counted(path: AnyPath, header: Header, count: int, source: str) -> list[int]:
    """The first ``count`` attributes, or the last ones if it is negative."""
    positions = list(range(len(header.attributes)))
    if not 1 <= abs(count) < len(positions):
        limit = f"{source} must be from 1 to {len(positions) - 1} to leave features"
        raise bad_file(path, None, f"{limit}; got {abs(count)}")
    return positions[:count] if count > 0 else positions[count:]


def _named(path: AnyPath, header: Header, names: Sequence[str], source: Path | None) -> list[int]:
    positions: dict[str, list[int]] = {}
    for at, attribute in enumerate(header.attributes):
        positions.setdefault(attribute.name, []).append(at)
    chosen: list[int] = []
    for name in names:
        # Some XML files keep the backslashes of a quoted name.
        found = positions.get(name) or positions.get(unescaped(name)) or []
        origin = f"of {source} " if source else ""
        if len(found) != 1:
            how_many = "no attribute" if not found else f"{len(found)} attributes"
            raise bad_file(path, None, f"label {shown(name)} {origin}matches {how_many}")
        chosen += found
    if not chosen or len(set(chosen)) < len(chosen):
        raise bad_file(source or path, None, "there must be labels, each named once")
    return sorted(chosen)  # in the order of the file, however they were named


def _xml_beside(path: AnyPath) -> Path | None:
    """``data-train.xml`` or ``data.xml`` for ``data-train.arff``."""
    name = stem(path)
    while name:
        found = beside(path, f"{name}.xml")
        if found is not None:
            return found
        name = re.sub(r"(^|[-_.])[^-_.]*$", "", name)
    return None


def _left_out(path: AnyPath, header: Header, drop: set[str], labels: Iterable[int]) -> set[int]:
    """Positions of the features to leave out: those to drop, and keys, which only name the row."""
    unknown = drop - {attribute.name for attribute in header.attributes}
    if unknown:
        raise bad_file(path, None, f"drop names the unknown attribute {shown(min(unknown))}")
    left_out = set()
    for at in set(range(len(header.attributes))) - set(labels):
        name, kind = header.attributes[at].name, header.attributes[at].kind
        if kind == "key" or name in drop:
            left_out.add(at)
        elif kind not in ("numeric", "nominal"):
            reason = f"attribute {shown(name)} has type {kind}; leave it out with drop=[{name!r}]"
            raise bad_file(path, header.attributes[at].line, reason)
    return left_out


def _columns(
    matrix: sparse.csc_array, header: Header, chosen: Sequence[int]
) -> tuple[sparse.csr_array, list[str]]:
    """(n_samples, n_columns) and names: 0/1 columns of nominal attributes, others as they are."""
    blocks, places, names = [matrix], [], []
    end = matrix.shape[1]
    for at in chosen:
        attribute = header.attributes[at]
        if attribute.kind == "numeric" or attribute.positive == 1:
            places.append(at)
            names.append(attribute.name)
            continue
        positions = matrix[:, [at]].toarray()
        if attribute.positive == 0:
            blocks.append(sparse.csc_array(1.0 - positions))
            names.append(attribute.name)
        else:
            rows = np.flatnonzero(~np.isnan(positions))
            found = (np.ones(len(rows)), (rows, positions[rows, 0].astype(np.int64)))
            shape = len(positions), len(attribute.values)
            blocks.append(sparse.csc_array(found, shape=shape))
            names += [f"{attribute.name}={value}" for value in attribute.values]
        places += range(end, end := end + blocks[-1].shape[1])
    columns = sparse.hstack(blocks, format="csc")[:, places].tocsr()
    columns.sort_indices()
    return columns, names


def _flat_labels(
    path: AnyPath, header: Header, reader: ArffRows, matrix: sparse.csc_array, chosen: list[int]
) -> tuple[sparse.csr_array, list[str]]:
    for at in chosen:
        attribute = header.attributes[at]
        if attribute.kind != "numeric" and attribute.positive is None:
            reason = f"label {shown(attribute.name)} must have the two values 0 and 1"
            raise bad_file(path, attribute.line, reason)
    Y, names = _columns(matrix, header, chosen)
    is_bad = Y.data != 1
    if np.any(is_bad):
        at = int(np.argmax(is_bad))
        row = int(np.searchsorted(Y.indptr, at, side="right")) - 1
        value = "missing" if np.isnan(Y.data[at]) else f"{Y.data[at]:g}"
        reason = f"label {shown(names[Y.indices[at]])} must be 0 or 1; it is {value}"
        raise bad_file(path, reader.lines[row], reason)
    return Y.astype(np.uint8), names


def _ontology(path: AnyPath, attribute: Attribute) -> Ontology:
    """The hierarchy of a CLUS attribute, a tree or a graph.

    A tree lists paths, ``a,a/b,a/b/c``, which name its nodes. A graph lists edges, parent to child,
    from ``root`` down.
    """
    items = [item for item in attribute.values if item]
    if not items:
        raise bad_file(path, attribute.line, "the hierarchy has no classes")
    parts = [item.split("/") for item in items]
    if all(len(edge) == 2 for edge in parts) and any(edge[0] == _ROOT for edge in parts):
        edges = [(child, parent) for parent, child in parts]
    else:  # a path implies the nodes above it, which are not always listed
        paths = ["/".join(path[:depth]) for path in parts for depth in range(1, len(path) + 1)]
        edges = [(path, path.rpartition("/")[0] or _ROOT) for path in paths]
    nodes = dict.fromkeys(node for child, parent in edges for node in (parent, child))
    nodes.pop(_ROOT, None)
    try:
        return Ontology.from_edges([edge for edge in edges if _ROOT not in edge], list(nodes))
    except ValueError as error:
        raise bad_file(path, attribute.line, f"the hierarchy has a cycle ({error})") from None


def _hierarchical_labels(
    path: AnyPath, header: Header, reader: ArffRows, ontology: Ontology, ancestors: bool
) -> tuple[sparse.csr_array, list[str]]:
    attribute = header.attributes[header.hierarchical or 0]
    names = [] if ontology.names is None else ontology.names.tolist()
    positions = {name: at for at, name in enumerate(names)}
    rows = Rows(path)
    for line, text in zip(reader.lines, reader.classes, strict=True):
        try:
            own = {positions[name.strip()] for name in text.split("@")} if text else set()
        except KeyError as error:
            reason = f"class {shown(error.args[0])} is not in the hierarchy of line"
            raise bad_file(path, line, f"{reason} {attribute.line}") from None
        rows.append(line, own, [1.0] * len(own))
    Y = rows.matrix(len(names), "label").astype(np.uint8)
    if ancestors:
        closed = sparse.csr_array(ontology.ancestor_closure(Y))
        Y = csr(closed.data, closed.indices, closed.indptr, closed.shape)
    return Y, names


def _quoted(text: str) -> str:
    if _PLAIN_NAME.fullmatch(text):
        return text
    if "\n" in text or "\r" in text:
        raise ValueError(
            f"Names in an ARFF file must not contain line breaks; got {text!r}. Rename the feature "
            "or label."
        )
    return "'" + re.sub(r"(['\\])", r"\\\1", text) + "'"
