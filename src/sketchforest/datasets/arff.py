"""Multi-label ARFF: MULAN (with an XML file), MEKA (``-C n``) and CLUS (hierarchical)."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal
from xml.etree import ElementTree

import numpy as np
import numpy.typing as npt
from scipy import sparse

from sketchforest.datasets._arff_header import Attribute, Header, read_header, unescaped
from sketchforest.datasets._arff_rows import ArffRows
from sketchforest.datasets._hierarchy import Hierarchy
from sketchforest.datasets._rows import Rows, check_filled, compact, csr
from sketchforest.datasets._text import (
    AnyPath,
    bad_file,
    beside,
    numbered_lines,
    shown,
    stem,
)
from sketchforest.datasets.dataset import Dataset
from sketchforest.ontology import Ontology

Convention = Literal["mulan", "meka", "clus"]
Labels = int | str | Path | Sequence[str]


def read_arff(
    path: AnyPath,
    labels: Labels | None = None,
    xml: AnyPath | None = None,
    *,
    ancestors: bool = True,
    drop: Iterable[str] = (),
    convention: Convention | None = None,
) -> Dataset:
    """X (n_samples, n_features) and Y (n_samples, n_labels) of a multi-label ARFF file.

    Which attributes are labels is given by ``labels`` (how many at the end, their names, or the
    path of a MULAN XML file) or ``xml``; else by the file itself: a hierarchical attribute (CLUS),
    an XML file beside it (MULAN; ``data.xml`` for ``data-train.arff``), or ``-C n`` in its
    relation (MEKA). ``convention`` picks one of these.

    Features with two values (0/1, no/yes) are one column, other nominal ones a column
    ``name=value`` for each value. Missing numbers are NaN; in ``name=value`` columns they are all
    zeros. Of a hierarchy every node is a label, and with ``ancestors`` a row has those above its
    own, too. ``drop`` names features to leave out.

    Parameters
    ----------
    path : str or path
        Compressed by gzip, xz or bzip2 or not.
    labels : int, sequence of str, or path, optional
    xml : str or path, optional
    ancestors : bool, default=True
    drop : names of features
    convention : "mulan", "meka" or "clus", optional

    Returns
    -------
    Dataset

    Examples
    --------
    >>> import os, tempfile
    >>> from sketchforest.datasets import make_multilabel, read_arff, write_arff
    >>> data = make_multilabel(20, 10, 5, labels_per_row=2, features_per_row=3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "tags.arff")
    ...     write_arff(data, path)
    ...     read_arff(path)
    Dataset('tags', n_samples=20, n_features=10, n_labels=5)
    """
    lines = numbered_lines(path)
    header = read_header(path, lines)
    chosen = _choose_labels(path, header, labels, xml, convention)
    dropped = _dropped(path, header, set(drop), chosen)
    reader = ArffRows(path, header.attributes)
    matrix = reader.read(lines).tocsc()
    # In a sparse row such attributes have their first value, which is a one of X or Y.
    n_filled = sum(a.kind == "nominal" and a.positive != 1 for a in header.attributes)
    check_filled(path, matrix.shape[0], n_filled, reader.n_given)
    if isinstance(chosen, Hierarchy):
        Y, label_names = _hierarchical_labels(path, reader, chosen, ancestors)
        not_features = {*dropped, header.hierarchical}
    else:
        Y, label_names = _flat_labels(path, header, reader, matrix, chosen)
        not_features = {*dropped, *chosen}
    X, feature_names = _columns(
        matrix,
        [pair for pair in enumerate(header.attributes) if pair[0] not in not_features],
    )
    return Dataset(
        name=stem(path),
        X=compact(X),
        Y=Y,
        feature_names=np.array(feature_names, np.str_),
        label_names=np.array(label_names, np.str_),
    )


def read_ontology(path: AnyPath) -> Ontology:
    """The hierarchy of labels of a CLUS file, in the order of the columns of Y.

    Parameters
    ----------
    path : str or path
        An ARFF file with a hierarchical attribute.

    Returns
    -------
    Ontology

    Examples
    --------
    >>> import os, tempfile
    >>> from sketchforest.datasets import read_ontology
    >>> lines = ["@relation genes", "@attribute x numeric"]
    >>> lines += ["@attribute class hierarchical a,a/b,a/b/c", "@data", "1.5,a/b"]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "genes.arff")
    ...     with open(path, "w") as file:
    ...         _ = file.write("\\n".join(lines))
    ...     read_ontology(path)
    Ontology(3 labels, 2 parents, depth 3)
    """
    header = read_header(path, numbered_lines(path))
    if header.hierarchical is None:
        raise bad_file(path, None, "no attribute is hierarchical")
    hierarchy = Hierarchy(path, header.attributes[header.hierarchical])
    return Ontology.from_edges(hierarchy.edges, hierarchy.nodes)


def arff_convention(path: AnyPath) -> Convention:
    """Which of the three conventions a file follows, told from its header and its neighbours."""
    header = read_header(path, numbered_lines(path))
    if header.hierarchical is not None:
        return "clus"
    if _xml_beside(path) is not None:
        return "mulan"
    return "meka" if header.meka_labels is not None else "mulan"


def _choose_labels(
    path: AnyPath,
    header: Header,
    labels: Labels | None,
    xml: AnyPath | None,
    convention: Convention | None,
) -> list[int] | Hierarchy:
    """The positions of the label attributes, or the hierarchy that holds them."""
    if labels is not None and xml is not None:
        raise ValueError(f"labels and xml both say which are labels; pass one. Got {labels!r}.")
    if isinstance(labels, (str, Path)):
        labels, xml = None, labels
    if xml is not None:
        return _named(path, header, read_label_xml(xml), Path(xml))
    if isinstance(labels, (int, np.integer)):
        if labels < 1:
            raise ValueError(f"labels must count the last attributes, at least 1; got {labels}.")
        return _counted(path, header, -int(labels), "labels")
    if labels is not None:
        return _named(path, header, list(labels), None)
    if convention in (None, "clus") and header.hierarchical is not None:
        return Hierarchy(path, header.attributes[header.hierarchical])
    found = _xml_beside(path) if convention in (None, "mulan") else None
    if found is not None:
        return _named(path, header, read_label_xml(found), found)
    if convention in (None, "meka") and header.meka_labels is not None:
        return _counted(path, header, header.meka_labels, "-C in @relation")
    raise bad_file(
        path,
        None,
        f"nothing says which attributes are labels; put {stem(path)}.xml beside it or pass labels",
    )


def _counted(path: AnyPath, header: Header, count: int, source: str) -> list[int]:
    """The first ``count`` attributes, or the last ones if it is negative."""
    n_attributes = len(header.attributes)
    if not 1 <= abs(count) < n_attributes:
        reason = f"{source} must leave features among {n_attributes} attributes; got {abs(count)}"
        raise bad_file(path, None, reason)
    return list(range(count) if count > 0 else range(n_attributes + count, n_attributes))


def _named(path: AnyPath, header: Header, names: Sequence[str], source: Path | None) -> list[int]:
    positions: dict[str, list[int]] = {}
    for at, attribute in enumerate(header.attributes):
        positions.setdefault(attribute.name, []).append(at)
    chosen: list[int] = []
    for name in names:
        # Some XML files carry the backslashes of a quoted name.
        found = positions.get(name) or positions.get(unescaped(name)) or []
        origin = f"of {source} " if source else ""
        if len(found) != 1:
            how_many = "no attribute" if not found else f"{len(found)} attributes"
            raise bad_file(path, None, f"label {shown(name)} {origin}is {how_many} of this file")
        chosen += found
    if not chosen or len(set(chosen)) < len(chosen):
        raise bad_file(source or path, None, "the labels must be some, and none of them twice")
    # In the order of the file, so that it does not depend on how the labels were named.
    return sorted(chosen)


def read_label_xml(path: AnyPath) -> list[str]:
    """The names of the labels in a MULAN XML file, those of a hierarchy in reading order."""
    text = b"\n".join(line for _, line in numbered_lines(path))
    try:
        root = ElementTree.fromstring(text)
    except (ElementTree.ParseError, ValueError, LookupError) as error:
        line, _ = getattr(error, "position", (None, None))
        raise bad_file(path, line, f"the XML cannot be read ({error})") from None
    elements = [element for element in root.iter() if element.tag.rpartition("}")[2] == "label"]
    names = [element.get("name") for element in elements]
    if not names or None in names:
        raise bad_file(path, None, "it must hold elements <label name=...>")
    return [name for name in names if name is not None]


def _xml_beside(path: AnyPath) -> Path | None:
    """``data-train.xml`` or ``data.xml`` for ``data-train.arff``."""
    name = stem(path)
    while name:
        found = beside(path, f"{name}.xml")
        if found is not None:
            return found
        name = re.sub(r"(^|[-_.])[^-_.]*$", "", name)
    return None


def _dropped(
    path: AnyPath, header: Header, names: set[str], chosen: list[int] | Hierarchy
) -> set[int]:
    """Positions of features to leave out: those named, and keys, which only name their row."""
    labels = set() if isinstance(chosen, Hierarchy) else set(chosen)
    unknown = names - {attribute.name for attribute in header.attributes}
    if unknown:
        raise bad_file(path, None, f"drop names the unknown attribute {shown(min(unknown))}")
    dropped = set()
    for at, attribute in enumerate(header.attributes):
        if attribute.kind == "key" or (attribute.name in names and at not in labels):
            dropped.add(at)
        elif attribute.kind in ("string", "date"):
            raise bad_file(
                path,
                attribute.line,
                f"attribute {shown(attribute.name)} is a {attribute.kind}; "
                f"leave it out with drop=[{attribute.name!r}]",
            )
        elif attribute.kind == "hierarchical" and at != header.hierarchical:
            raise bad_file(path, attribute.line, "a second hierarchical attribute")
    return dropped


def _columns(
    matrix: sparse.csc_array, attributes: list[tuple[int, Attribute]]
) -> tuple[sparse.csr_array, list[str]]:
    """(n_samples, n_columns) and names: nominal attributes as 0/1 columns, others as they are."""
    blocks: list[sparse.csc_array] = []
    names: list[str] = []
    plain: list[int] = []

    def flush() -> None:
        # Runs of plain columns are taken at once: a file can have many thousands of them.
        if plain:
            blocks.append(matrix[:, plain])
            plain.clear()

    for at, attribute in attributes:
        if attribute.kind == "numeric" or attribute.positive == 1:
            plain.append(at)
            names.append(attribute.name)
            continue
        flush()
        positions = matrix[:, [at]].toarray().ravel()
        if attribute.positive == 0:
            blocks.append(sparse.csc_array((1.0 - positions)[:, np.newaxis]))
            names.append(attribute.name)
        else:
            blocks.append(_one_hot(positions, len(attribute.values)))
            names += [f"{attribute.name}={value}" for value in attribute.values]
    flush()
    columns = sparse.hstack(blocks, format="csr") if blocks else matrix[:, :0].tocsr()
    columns.sort_indices()
    return columns, names


def _one_hot(positions: npt.NDArray[np.float64], n_values: int) -> sparse.csc_array:
    is_known = ~np.isnan(positions)
    indptr = np.append(0, np.cumsum(is_known))
    indices = positions[is_known].astype(np.int64)
    return csr(np.ones(len(indices)), indices, indptr, (len(positions), n_values)).tocsc()


def _flat_labels(
    path: AnyPath, header: Header, reader: ArffRows, matrix: sparse.csc_array, chosen: list[int]
) -> tuple[sparse.csr_array, list[str]]:
    for at in chosen:
        attribute = header.attributes[at]
        if attribute.kind != "numeric" and attribute.positive is None:
            reason = f"label {shown(attribute.name)} must have the two values 0 and 1"
            raise bad_file(path, attribute.line, reason)
    Y, names = _columns(matrix, [(at, header.attributes[at]) for at in chosen])
    is_bad = Y.data != 1
    if np.any(is_bad):
        at = int(np.argmax(is_bad))
        row = int(np.searchsorted(Y.indptr, at, side="right")) - 1
        value = "missing" if np.isnan(Y.data[at]) else f"{Y.data[at]:g}"
        reason = f"label {shown(names[Y.indices[at]])} is {value}, neither 0 nor 1"
        raise bad_file(path, reader.lines[row], reason)
    return Y.astype(np.uint8), names


def _hierarchical_labels(
    path: AnyPath, reader: ArffRows, hierarchy: Hierarchy, ancestors: bool
) -> tuple[sparse.csr_array, list[str]]:
    rows = Rows(path)
    for line, text in zip(reader.lines, reader.classes, strict=True):
        labels = hierarchy.labels(line, text, ancestors)
        rows.append(line, labels, [1.0] * len(labels))
    names = hierarchy.nodes
    return rows.matrix(len(names), "label").astype(np.uint8), names
