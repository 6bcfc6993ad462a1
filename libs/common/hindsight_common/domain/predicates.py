"""The predicates of facts: what each allows, what it becomes in the graph, which names and objects are one.

Declared in `data/predicates.toml`; an unknown predicate is kept under its own name, as one of many values and
an attribute in the graph. Objects meet by `data/object_aliases.toml`: 川菜 and "Sichuan food" are one, and so
are "a peanut" and "peanuts"; what is not in it is compared by its folded spelling.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Literal, get_args

from hindsight_common.domain.text import fold_text, normal_key

Cardinality = Literal["single", "ask", "many", "immutable"]
ValueKind = Literal["person", "place", "thing", "text"]
Sensitivity = Literal["health", "identity", "contact"]
Relation = Literal[
    "HAS_ATTRIBUTE",
    "HAS_EMAIL",
    "HAS_PHONE",
    "PREFERS",
    "AVOIDS",
    "KNOWS",
    "PART_OF",
    "LOCATED_IN",
    "PARTICIPATED_IN",
    "TRIGGERED_BY",
    "OCCURRED_IN",
    "SUPERSEDES",
]
RELATIONS: tuple[Relation, ...] = get_args(Relation)

_THE_USER = frozenset({"user", "theuser", "用户", "me", "i", "myself", "我", "本人"})

_OF_THE_USER = re.compile(r"^(?:(?:the )?user's |用户的)(.+)$")
_ARTICLE = re.compile(
    r"^(?:(?:a|an|the|some|any|my|our|all)\s+(?=\S)|(?:都|一[个只条些辆台把杯瓶碗份匹部套间栋块件点头])(?=\S))"
)
# "likes to eat peanuts" and "likes peanuts" say the same; so do 喜欢打篮球 and 喜欢篮球
_DOING = re.compile(
    r"^(?:to\s+)?(?:(?:eat|eating|drink|drinking|play|playing|go|going|do|doing)\s+(?=\S)|to\s+(?=\S))"
    r"|^(?:吃|喝|打|踢|玩)(?=..|[辣鱼肉糖茶酒蟹虾])"
)
_TASTE_PREDICATES = frozenset({"likes", "dislikes", "prefers", "avoids", "eats", "drinks", "plays"})


@dataclass(frozen=True, slots=True)
class Predicate:
    """One declared predicate.

    Predicates of one `axis` speak of the same thing with opposite `sign` (+1 or -1): `dislikes` is the -1 of
    the axis `likes`. A predicate without an opposite is the +1 of an axis of its own name.
    """

    name: str
    cardinality: Cardinality = "many"
    relation: Relation = "HAS_ATTRIBUTE"
    importance: float = 0.5
    value: ValueKind = "text"
    sensitivity: Sensitivity | None = None
    axis: str = ""
    sign: int = 1
    opposite: str | None = None
    aliases: tuple[str, ...] = ()


def predicate(name: str) -> Predicate:
    """The declared predicate of that canonical name, or one of class `many` that keeps the name."""
    return declared().get(name) or Predicate(name=name, axis=name)


def canonical(alias: str) -> str:
    """The canonical name for an alias, Chinese or English, any writing; the alias itself where none fits."""
    return _names_by_key().get(normal_key(alias), alias)


@cache
def declared() -> dict[str, Predicate]:
    """Every declared predicate by its canonical name."""
    source = resources.files("hindsight_common").joinpath("data/predicates.toml")
    table = tomllib.loads(source.read_text(encoding="utf-8"))
    return {name: _read(name, row) for name, row in table.items()}


def _read(name: str, row: dict[str, Any]) -> Predicate:
    axis = row.get("axis", name)
    return Predicate(
        name=name,
        cardinality=row["cardinality"],
        relation=row["relation"],
        importance=row["importance"],
        value=row["value"],
        sensitivity=row.get("sensitivity"),
        axis=axis,
        sign=1 if axis == name else -1,
        opposite=row.get("opposite"),
        aliases=(*row["en"], *row["zh"]),
    )


@cache
def _names_by_key() -> dict[str, str]:
    names = {normal_key(alias): p.name for p in declared().values() for alias in p.aliases}
    return names | {normal_key(name): name for name in declared()}


def subject_key(subject: str) -> str:
    """`user` for the user under any of its names, `user's sister` for an unnamed relation, else the name's key."""
    relation = _OF_THE_USER.match(fold_text(subject))
    if relation:
        return f"user's {canonical(relation[1])}"
    key = normal_key(subject)
    return "user" if key in _THE_USER else key


def object_key(name: str, text: str) -> str:
    """The key of a fact's object under the predicate called `name`.

    Articles and plurals are folded, known translations meet; people's names are only folded, phone numbers
    are their digits without the Chinese country code.
    """
    if name == "phone":
        return _phone_key(text)
    if predicate(name).value == "person" or "@" in text:
        return normal_key(text)
    folded = fold_text(text).strip(" .,;:!?。，、；：！？\"'“”‘’")
    folded = _ARTICLE.sub("", folded)
    if name in _TASTE_PREDICATES:
        folded = _ARTICLE.sub("", _DOING.sub("", folded))
    singular = _singular(folded)
    aliases = _alias_keys()
    return aliases.get(normal_key(folded)) or aliases.get(normal_key(singular)) or normal_key(singular)


def alias_key(key: str) -> str | None:
    """The key under which an object with this key (of `normal_key`) meets its translations; None if it has none."""
    return _alias_keys().get(key)


def _phone_key(text: str) -> str:
    digits = re.sub(r"\D", "", fold_text(text))
    return re.sub(r"^(?:00)?86(?=1\d{10}$)", "", digits) or normal_key(text)


def _singular(folded: str) -> str:
    """One form for the singular and the plural of an English noun; not always a word of English."""
    if len(folded) < 4 or not folded[-1].isascii() or not folded[-2].isascii():
        return folded
    stem = folded
    if stem.endswith("s") and not stem.endswith(("ss", "us", "is")):
        stem = stem[:-1]
    if stem.endswith("ie"):
        return stem[:-2] + "y"
    return stem[:-1] if stem.endswith(("che", "she", "xe", "sse", "zze", "oe")) else stem


def object_kind(text: str) -> str | None:
    """The section of the table of objects that knows it ("city", "country", "food" …), in any writing."""
    folded = fold_text(text)
    kinds = _alias_kinds()
    return kinds.get(normal_key(folded)) or kinds.get(normal_key(_singular(folded)))


@cache
def _alias_keys() -> dict[str, str]:
    keys: dict[str, str] = {}
    for _, names in _alias_groups():
        for spelling in _spellings(names):
            keys.setdefault(spelling, normal_key(names[0]))
    return keys


@cache
def _alias_kinds() -> dict[str, str]:
    kinds: dict[str, str] = {}
    for kind, names in _alias_groups():
        for spelling in _spellings(names):
            kinds.setdefault(spelling, kind)
    return kinds


def _spellings(names: list[str]) -> Iterator[str]:
    for name in names:
        folded = fold_text(name)
        yield normal_key(folded)
        yield normal_key(_singular(folded))


def _alias_groups() -> Iterator[tuple[str, list[str]]]:
    source = resources.files("hindsight_common").joinpath("data/object_aliases.toml")
    for kind, section in tomllib.loads(source.read_text(encoding="utf-8")).items():
        for names in section["same"]:
            yield kind, names
