"""Payload bytes to a checked model, or a `RequestError` that names the field and the way out.

Error messages never repeat a value of the payload: they travel into logs and answers, values are personal.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Final, NoReturn, TypeVar, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from hindsight_common.errors import RequestError

MAX_DEPTH: Final = 64
Model = TypeVar("Model", bound=BaseModel)

_EXPECTED: Final = {
    "string_type": "a string",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "list_type": "a list",
    "tuple_type": "a list",
    "model_type": "an object",
    "model_attributes_type": "an object",
    "dict_type": "an object",
}


class _UnreadableError(ValueError):
    """Raised inside the JSON reader; carries what the reader itself cannot say."""

    def __init__(self, message: str, field: str | None = None) -> None:
        super().__init__(message)
        self.field = field


def printable(name: str) -> str:
    """A field name of a stranger, fit for messages and headers: at most 64 characters, none of them odd."""
    return "".join(char if char.isprintable() else "?" for char in name[:64])


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise _UnreadableError(f"the field {printable(twice)!r} appears twice", printable(twice))
    return found


def _no_constant(name: str) -> NoReturn:
    raise _UnreadableError(f"{name} is not JSON")


def _check_depth(value: object) -> None:
    level, depth = [value], 0
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            raise _UnreadableError(f"nested deeper than {MAX_DEPTH} levels")
        below: list[object] = []
        for node in level:
            if isinstance(node, dict):
                below.extend(node.values())
            elif isinstance(node, list):
                below.extend(node)
        level = below


def read_object(data: bytes, *, code: str) -> dict[str, Any]:
    """The JSON object in `data` (UTF-8, a byte order mark is skipped).

    Raises `RequestError("not_json")` for anything that is not JSON, and with `code` for JSON that is no
    object, names a field twice or nests deeper than 64 levels.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise RequestError("not_json", f"not UTF-8 at byte {error.start}") from None
    try:
        value = json.loads(text, object_pairs_hook=_no_duplicates, parse_constant=_no_constant)
        _check_depth(value)
    except _UnreadableError as error:
        raise RequestError(code, str(error), field=error.field) from None
    except RecursionError:
        raise RequestError(code, f"nested deeper than {MAX_DEPTH} levels") from None
    except json.JSONDecodeError as error:
        raise RequestError("not_json", f"not JSON: {error.msg} at character {error.pos}") from None
    except ValueError:
        raise RequestError("not_json", "not JSON: a number is too long") from None
    if not isinstance(value, dict):
        raise RequestError(code, "must be a JSON object")
    return value


def build(model: type[Model], value: Mapping[str, Any], *, code: str, context: object = None) -> Model:
    """`model` made from `value`; raises `RequestError` with `code` or the validator's own, naming one field.

    Unknown fields are reported before missing ones, since a misspelt name is both and the hint helps more.
    """
    try:
        return model.model_validate(value, context=context)
    except ValidationError as error:
        details = error.errors(include_url=False, include_input=True)
        first = next((found for found in details if found["type"] == "extra_forbidden"), details[0])
    raise _refusal(model, first, code)


def _refusal(model: type[BaseModel], found: ErrorDetails, code: str) -> RequestError:
    kind, path = found["type"], [str(part) for part in found["loc"]]
    field = ".".join(printable(part) for part in path) or None
    own_code = (found.get("ctx") or {}).get("code")
    if kind == "extra_forbidden":
        return RequestError(code, _unknown(model, path), field=field)
    if kind == "missing":
        return RequestError(code, f"{field} is required", field=field)
    if kind in _EXPECTED:
        given = _kind_of(found["input"])
        return RequestError(code, f"{field} must be {_EXPECTED[kind]}, not {given}", field=field)
    says = found["msg"] if kind == "refused" else _in_words(kind, found)
    return RequestError(own_code or code, f"{field} {says}" if field else says, field=field)


def _in_words(kind: str, found: ErrorDetails) -> str:
    if kind == "too_short":
        return "must not be empty"
    return found["msg"].replace("Input should be", "must be")


def _kind_of(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, str):
        return "a string"
    return "an object" if isinstance(value, Mapping) else "a list"


def _unknown(model: type[BaseModel], path: Sequence[str]) -> str:
    owner = _model_at(model, path[:-1])
    names = [info.alias or name for name, info in owner.model_fields.items()] if owner else []
    wanted = path[-1]
    plain = {name.replace("_", "").casefold(): name for name in names}
    near = get_close_matches(wanted.replace("_", "").casefold(), list(plain), n=1, cutoff=0.7)
    hint = f"; did you mean {plain[near[0]]}?" if near else f"; known fields: {', '.join(names)}"
    return f"unknown field {printable(wanted)!r}{hint}"


def _model_at(model: type[BaseModel], path: Sequence[str]) -> type[BaseModel] | None:
    for part in path:
        by_alias = {info.alias or name: info for name, info in model.model_fields.items()}
        info = by_alias.get(part)
        options = (info.annotation, *get_args(info.annotation)) if info else ()
        below = next((one for one in options if isinstance(one, type) and issubclass(one, BaseModel)), None)
        if below is None:
            return None
        model = below
    return model
