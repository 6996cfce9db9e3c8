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
    components = document["components"]
    endpoints = []
    for path, methods in document["paths"].items():
        for method, found in methods.items():
            body = found.get("requestBody", {}).get("content", {}).get("application/json")
            responses = {s: _resolve(components, r) for s, r in found["responses"].items()}
            content = responses["200"]["content"]["application/json"]
            endpoints.append(
                {
                    "path": path,
                    "method": method.upper(),
                    "summary": found["summary"],
                    "parameters": found.get("parameters", []),
                    "fields": _fields(components, body["schema"]) if body else [],
                    "response": _fields(components, content["schema"]),
                    "example": json.dumps(body["example"], ensure_ascii=False) if body else None,
                    "statuses": [(status, r["description"]) for status, r in responses.items()],
                }
            )
    return render("docs.html", FOLDER, about=document["info"], endpoints=endpoints)


def _fields(components: Json, schema: Json, prefix: str = "") -> list[dict[str, str]]:
    """Flatten the properties of a schema: `labels[].score` follows `labels`."""
    lines = []
    for name, declared in _resolve(components, schema).get("properties", {}).items():
        found = _resolve(components, declared)
        is_list = found.get("type") == "array"
        items = found["items"] if is_list and "items" in found else found
        description = found.get("description", "")
        lines.append(
            {"name": prefix + name, "type": _type(components, found), "description": description}
        )
        lines += _fields(components, items, f"{prefix}{name}{'[]' if is_list else ''}.")
    return lines


def _resolve(components: Json, value: Json) -> Json:
    """Follow a reference; keys beside it take precedence."""
    if "$ref" not in value:
        return value
    kind, name = value["$ref"].split("/")[-2:]
    return {**components[kind][name], **value}


def _type(components: Json, schema: Json) -> str:
    schema = _resolve(components, schema)
    if "oneOf" in schema:
        return " or ".join(_type(components, one) for one in schema["oneOf"])
    if "enum" in schema:
        return " or ".join(schema["enum"][:5])
    types = schema.get("type", "object")
    if types == "array":
        return "list of " + _type(components, schema["items"]) if "items" in schema else "list"
    return " or ".join(types) if isinstance(types, list) else types
