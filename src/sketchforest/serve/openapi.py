"""The endpoints as OpenAPI describes them, with examples that the models at hand answer."""

from collections.abc import Sequence
from typing import Any

from sketchforest import __version__
from sketchforest.serve.limits import MAX_LABELS, Limits
from sketchforest.serve.served_model import MAX_MARKED, ServedModel

Json = dict[str, Any]

STATUSES = {
    "400": "The body is no JSON.",
    "404": "There is no model of that name.",
    "408": "The body came too slowly.",
    "413": "The body is too large, or has too many rows.",
    "415": "The body is not said to be JSON.",
    "422": "A field is unknown, missing, or has a wrong value; the sentence says which.",
    "503": "There are too many requests, or it took too long; Retry-After says when to ask again.",
}


def description(models: Sequence[ServedModel], limits: Limits) -> Json:
    names = [model.name for model in models]
    row = example_row(models[0])
    suggested = _object(
        label={"type": "string"},
        score={"type": "number", "description": "Its probability."},
        predicted={
            "type": "boolean",
            "description": "Whether it is above the threshold of the model.",
        },
    )
    labels = {"type": "array", "items": suggested}
    model = {
        "type": "string",
        "enum": names,
        "default": names[0],
        "description": f"Which model; {names[0]} if not given.",
    }
    rows = {
        "type": "array",
        "items": _ref("Row"),
        "minItems": 1,
        "maxItems": limits.rows,
        "description": f"or several, at most {limits.rows:,}.",
    }
    schemas = {
        "Row": {
            "description": "As the model was trained: a text; an object of fields by name, where "
            "null is a missing value; or a list of all numbers in their order.",
            "oneOf": [{"type": "string"}, {"type": "object"}, {"type": "array"}],
        },
        "Suggest": _object(
            required=[],
            row={**_ref("Row"), "description": "One row,"},
            rows=rows,
            k=_count(5, 1, "How many labels of a row, at most."),
            model=model,
        ),
        "Suggested": _object(
            required=["model"],
            model={"type": "string"},
            labels=labels | {"description": "Of the one row, best first;"},
            rows={
                "type": "array",
                "items": _object(labels=labels),
                "description": "or the same of each of several rows.",
            },
        ),
        "Explain": _object(
            required=["row"],
            row=_ref("Row"),
            label={
                "description": "Why this label, or why not? A name or several; else the k best.",
                "oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}],
            },
            k=_count(3, 1, "How many of the best labels."),
            n_rows=_count(5, 0, "How many similar training rows."),
            model=model,
        ),
        "Explained": _explained(),
        "Error": _object(error={"type": "string", "description": "One sentence."}),
    }
    asked = {"row": row, "k": 5}
    why = {"row": row, "k": 1}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "sketchforest",
            "version": __version__,
            "description": f"Labels for rows, and why. A request has at most {limits.rows:,} rows "
            f"and {limits.body_bytes:,} bytes, and takes {limits.seconds:g} s at most.",
        },
        "paths": {
            "/suggest": {"post": _post("The best labels of rows.", "Suggest", "Suggested", asked)},
            "/explain": {"post": _post("Why a row has a score.", "Explain", "Explained", why)},
            "/info": {
                "get": _get("What the models are, and what they are asked for.")
                | {
                    "parameters": [
                        {
                            "name": "model",
                            "in": "query",
                            "required": False,
                            "description": "One of them, with the names of all its labels.",
                            "schema": {"type": "string", "enum": names},
                        }
                    ]
                }
            },
            "/health": {"get": _get("Whether requests are answered.")},
        },
        "components": {"schemas": schemas},
    }


def example_row(served: ServedModel) -> object:
    """A row that the model takes."""
    reader = served.reader
    if reader.fields.is_text_alone and len(reader.fields.of_text) == 1:
        return "A text, as long as you like."
    example: Json = {}
    for field in reader.fields.first(3):
        texts = {"text": "A text.", "category": field.values[0] if field.values else None}
        example[field.name] = texts.get(field.kind, 1)
    return example


def _explained() -> Json:
    word = _object(start=_integer(), end=_integer(), adds=_number())
    feature = _object(
        feature={"type": "string"},
        value={"type": ["number", "null"]},
        adds={**_number(), "description": "All of them add up to score minus base."},
    )
    label = _object(
        label={"type": "string"},
        score=_number(),
        base={**_number(), "description": "The score before anything of the row is known."},
        features={"type": "array", "items": feature},
        words={
            "description": "By field of text: places, in characters from 0, of words that count.",
            "type": "object",
            "additionalProperties": {"type": "array", "items": word},
        },
    )
    row = _object(
        required=["row", "id", "weight", "labels"],
        row={**_integer(), "description": "Its number in the file of training rows, from 0."},
        id={"type": "string"},
        weight={**_number(), "description": "Its share in the scores."},
        labels={"type": "array", "items": {"type": "string"}},
        text={"type": "string", "description": "Where the model keeps it."},
    )
    return _object(
        required=["model", "labels", "similar"],
        model={"type": "string"},
        labels={"type": "array", "items": label},
        similar={"type": "array", "items": row},
        marked_until={
            "description": f"Of long texts, by field: words are marked in so many characters, "
            f"{MAX_MARKED:,} of a row, shared by its labels.",
            "type": "object",
            "additionalProperties": _integer(),
        },
    )


def _post(summary: str, body: str, answer: str, example: Json) -> Json:
    content = {"schema": _ref(body), "example": example}
    return {
        "summary": summary,
        "requestBody": {"required": True, "content": {"application/json": content}},
        "responses": {"200": _answer("An answer.", _ref(answer))}
        | {status: _answer(said, _ref("Error")) for status, said in STATUSES.items()},
    }


def _get(summary: str) -> Json:
    return {"summary": summary, "responses": {"200": _answer("An answer.", {"type": "object"})}}


def _answer(said: str, schema: Json) -> Json:
    return {"description": said, "content": {"application/json": {"schema": schema}}}


def _object(required: list[str] | None = None, **properties: Json) -> Json:
    """All properties are required, unless said otherwise."""
    required = list(properties) if required is None else required
    return {"type": "object", "properties": properties} | (
        {"required": required} if required else {}
    )


def _ref(name: str) -> Json:
    return {"$ref": f"#/components/schemas/{name}"}


def _count(usual: int, least: int, said: str) -> Json:
    return {
        "type": "integer",
        "minimum": least,
        "maximum": MAX_LABELS,
        "default": usual,
        "description": said,
    }


def _integer() -> Json:
    return {"type": "integer"}


def _number() -> Json:
    return {"type": "number"}
