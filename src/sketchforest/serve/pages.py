"""The pages of the service, each whole in itself but for one script."""

import json
from pathlib import Path
from typing import Any

from sketchforest import __version__
from sketchforest._pages import render
from sketchforest.serve.served_model import ServedModel

FOLDER = Path(__file__).parent / "page"
SCRIPTS = {path.stem: path.read_bytes() for path in sorted(FOLDER.glob("*.js"))}
# Rows of more fields are typed as a list of features.
MAX_INPUTS = 40


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


def docs_page(about: dict[str, Any]) -> str:
    schemas = about["components"]["schemas"]
    endpoints = []
    for path, methods in about["paths"].items():
        for method, found in methods.items():
            body = found.get("requestBody", {}).get("content", {}).get("application/json")
            endpoints.append(
                {
                    "path": path,
                    "method": method.upper(),
                    "summary": found["summary"],
                    "parameters": found.get("parameters", []),
                    "fields": _fields(schemas, body["schema"]) if body else [],
                    "answer": _answer_fields(schemas, found),
                    "example": json.dumps(body["example"], ensure_ascii=False) if body else None,
                    "statuses": [
                        (status, response["description"])
                        for status, response in found["responses"].items()
                    ],
                }
            )
    return render("docs.html", FOLDER, about=about["info"], endpoints=endpoints)


def _answer_fields(schemas: dict[str, Any], endpoint: dict[str, Any]) -> list[dict[str, str]]:
    return _fields(schemas, endpoint["responses"]["200"]["content"]["application/json"]["schema"])


def _fields(
    schemas: dict[str, Any], schema: dict[str, Any], before: str = ""
) -> list[dict[str, str]]:
    """The properties of a schema, those of objects in it below them, a line each."""
    schema = _resolved(schemas, schema)
    lines = []
    for name, of in schema.get("properties", {}).items():
        found = _resolved(schemas, of)
        is_list = found.get("type") == "array"
        items = _resolved(schemas, found["items"]) if is_list and "items" in found else found
        kind = _kind(schemas, found)
        said = of.get("description", found.get("description", ""))
        lines.append({"name": before + name, "kind": kind, "said": said})
        lines += _fields(schemas, items, f"{before}{name}{'[]' if is_list else ''}.")
    return lines


def _resolved(schemas: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """With what a reference stands for; what is said beside it counts more."""
    name = schema.get("$ref", "").rpartition("/")[2]
    return {**schemas[name], **schema} if name else schema


def _kind(schemas: dict[str, Any], schema: dict[str, Any]) -> str:
    schema = _resolved(schemas, schema)
    if "oneOf" in schema:
        return " or ".join(_kind(schemas, one) for one in schema["oneOf"])
    kind = schema.get("type", "object")
    kind = " or ".join(kind) if isinstance(kind, list) else kind
    if kind == "array":
        kind = "list of " + _kind(schemas, schema["items"]) if "items" in schema else "list"
    if "enum" in schema:
        kind = " or ".join(schema["enum"][:5])
    return kind
