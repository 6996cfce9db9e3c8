"""The OpenAPI description: openapi.json, completed with the models and limits of the service."""

import json
from collections.abc import Sequence
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sketchforest import __version__

if TYPE_CHECKING:
    from sketchforest.serve.limits import Limits
    from sketchforest.serve.served_model import ServedModel

Json = dict[str, Any]

DOCUMENT: Json = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
# Requests are validated by the same bounds and defaults that clients read.
SCHEMAS: Json = DOCUMENT["components"]["schemas"]


def description(models: Sequence["ServedModel"], limits: "Limits") -> Json:
    """Return the document with model names, limits, and examples that the first model accepts."""
    document, names = deepcopy(DOCUMENT), [model.name for model in models]
    document["info"] |= {
        "version": __version__,
        "description": "Predict labels and explain predictions. A request may have up to "
        f"{limits.rows:,} rows and {limits.body_bytes:,} bytes, and times out after "
        f"{limits.seconds:g} s.",
    }
    suggest, explain = (document["components"]["schemas"][n] for n in ("Suggest", "Explain"))
    suggest["properties"]["rows"] |= {
        "maxItems": limits.rows,
        "description": f"Up to {limits.rows:,} rows.",
    }
    for schema in (suggest, explain):
        schema["properties"]["model"] |= {
            "enum": names,
            "default": names[0],
            "description": f"Model to use. Default: {names[0]}.",
        }
    paths, row = document["paths"], models[0].reader.fields.example
    paths["/info"]["get"]["parameters"][0]["schema"]["enum"] = names
    for path, k in (("/suggest", 5), ("/explain", 1)):
        content = paths[path]["post"]["requestBody"]["content"]
        content["application/json"]["example"] = {"row": row, "k": k}
    return document
