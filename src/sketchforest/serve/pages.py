"""The HTML pages of the service. Each loads nothing but one script."""

import json
from pathlib import Path
from typing import Any

from sketchforest import __version__
from sketchforest._pages import render
from sketchforest.serve.served_model import ServedModel

FOLDER = Path(__file__).parent / "page"
SCRIPTS = {path.stem: path.read_bytes() for path in sorted(FOLDER.glob("*.js"))}
MAX_INPUTS = 40  # rows with more fields are typed as a list of features

Json = dict[str, Any]


def model_page(model: ServedModel, names: list[str]) -> str:
    about = model.info()
    has_inputs = about["n_fields"] <= MAX_INPUTS
    return render(
        "model.html",
        FOLDER,
        about=about,
        names=names,
        has_inputs=has_inputs,
        fields=about["fields"] if has_inputs else [],
        example=", ".join(str(field["name"]) for field in about["fields"][:3]),
        version=__version__,
    )


def docs_page(document: Json) -> str:
    """Render an OpenAPI document."""
    paths = _inline(document, document["paths"])
    return render("docs.html", FOLDER, about=document["info"], paths=paths, dumps=json.dumps)


def _inline(document: Json, value: Any) -> Any:
    """Replace references by what they refer to. Keys beside a reference take precedence."""
    if isinstance(value, list):
        return [_inline(document, item) for item in value]
    if not isinstance(value, dict):
        return value
    if "$ref" in value:
        kind, name = value["$ref"].split("/")[-2:]
        value = {**document["components"][kind][name], **value}
    return {key: _inline(document, item) for key, item in value.items() if key != "$ref"}
