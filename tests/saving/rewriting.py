"""Change model files and repair their checksums, as an attacker would."""

import json
from pathlib import Path

import numpy as np

from sketchforest import _core
from sketchforest._saving.container import ALIGNMENT, _checksum, _split_at_checksum


def parts_of(content: bytes) -> tuple[dict, dict, bytes]:
    """Header of the arrays, description of the model, and bytes of the arrays."""
    n_header = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + n_header])
    metadata = header.pop("__metadata__")
    return header, json.loads(metadata["sketchforest"]), content[8 + n_header :]


def joined(header: dict, about: dict | str, body: bytes, sums: dict | None = None) -> bytes:
    """A file of these parts with the right checksums; `about` may be JSON text."""
    text = about if isinstance(about, str) else json.dumps(about)
    sums = checksums(header, body) if sums is None else sums
    metadata = {"sketchforest": text, "array_checksums": json.dumps(sums), "checksum": "0" * 64}
    return signed(json.dumps({"__metadata__": metadata, **header}).encode(), body)


def signed(text: bytes, body: bytes) -> bytes:
    before, _, after = _split_at_checksum(text + b" " * (-(8 + len(text)) % ALIGNMENT))
    text = before + _checksum(before, after) + after
    return len(text).to_bytes(8, "little") + text + body


def checksums(header: dict, body: bytes) -> dict[str, str]:
    whole, sums = np.frombuffer(body, np.uint8), {}
    for name, entry in header.items():
        try:
            begin, end = entry["data_offsets"]
            sums[name] = f"{_core.checksum(whole[begin:end].copy()):016x}"
        except (TypeError, KeyError, ValueError):
            sums[name] = "0" * 16
    return sums


def rewrite(path: Path, change) -> None:
    """Rewrite a file after `change(header, about, body)`, which changes these in place."""
    header, about, body = parts_of(path.read_bytes())
    bytes_ = np.frombuffer(body, np.uint8).copy()
    change(header, about, bytes_)
    path.write_bytes(joined(header, about, bytes_.tobytes()))


def array_in(header: dict, body: np.ndarray, name: str, dtype) -> np.ndarray:
    """A view of one array of the file."""
    begin, end = header[name]["data_offsets"]
    return body[begin:end].view(dtype)
