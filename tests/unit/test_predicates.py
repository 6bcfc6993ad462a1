from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_common.domain.predicates import (
    RELATIONS,
    canonical,
    declared,
    object_key,
    object_kind,
    predicate,
    subject_key,
)
from hindsight_common.domain.text import normal_key


def test_every_predicate_maps_to_a_relation_of_the_graph() -> None:
    assert {p.relation for p in declared().values()} <= set(RELATIONS)
    assert all(0 < p.importance <= 1 for p in declared().values())
    assert {p.cardinality for p in declared().values()} == {"single", "ask", "many", "immutable"}


def test_no_alias_names_two_predicates() -> None:
    seen: dict[str, str] = {}
    for p in declared().values():
        for alias in (p.name, *p.aliases):
            assert seen.setdefault(normal_key(alias), p.name) == p.name, alias


def test_opposites_share_an_axis_with_two_signs() -> None:
    for p in declared().values():
        if p.opposite:
            other = predicate(p.opposite)
            assert (other.opposite, other.axis, other.sign) == (p.name, p.axis, -p.sign)
    assert predicate("likes").sign == 1
    assert predicate("dislikes").axis == "likes"


def test_health_and_identity_matter_most() -> None:
    for p in declared().values():
        assert p.sensitivity not in {"health", "identity"} or p.importance >= 0.85


@pytest.mark.parametrize(
    ("name", "cardinality"),
    [
        ("lives_in", "single"),
        ("employer", "single"),
        ("email", "ask"),
        ("phone", "ask"),
        ("name", "ask"),
        ("birthday", "ask"),
        ("likes", "many"),
        ("friend", "many"),
        ("born_in", "immutable"),
    ],
)
def test_the_classes_are_those_of_the_contract(name: str, cardinality: str) -> None:
    assert predicate(name).cardinality == cardinality


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("住在", "lives_in"),
        ("Works At", "employer"),
        ("手機號", "phone"),
        ("can't stand", "dislikes"),
        ("CANNOT  STAND", "dislikes"),
        ("lives_in", "lives_in"),
        ("discombobulates", "discombobulates"),
    ],
)
def test_an_alias_in_any_writing_gives_the_canonical_name(alias: str, name: str) -> None:
    assert canonical(alias) == name


def test_an_unknown_predicate_keeps_its_name_and_is_one_of_many() -> None:
    unknown = predicate("collects")
    assert (unknown.name, unknown.axis, unknown.sign) == ("collects", "collects", 1)
    assert (unknown.cardinality, unknown.relation) == ("many", "HAS_ATTRIBUTE")


@pytest.mark.parametrize(
    ("name", "one", "other"),
    [
        ("likes", "川菜", "Sichuan food"),
        ("likes", "四川菜。", "Szechuan cuisine"),
        ("allergic_to", "花生", "peanuts"),
        ("allergic_to", "a peanut", "peanuts"),
        ("likes", "咖啡", "Coffee"),
        ("lives_in", "上海", "Shanghai"),
        ("lives_in", "臺北", "Taipei"),
        ("has_pet", "一只橘猫", "橘猫"),
        ("drinks", "一杯咖啡", "coffee"),
        ("likes", "打篮球", "basketball"),
        ("likes", "to eat strawberries", "草莓"),
        ("likes", "movies", "movie"),
        ("likes", "peaches", "a peach"),
        ("likes", "the dishes", "dish"),
        ("phone", "+86 138 0013 8000", "13800138000"),
        ("email", "Li@Example.com", "li@example.com"),
        ("diet", "Vegetarian", "素食者"),
        ("friend", "JOSÉ", "jose"),
    ],
)
def test_two_names_of_one_object_share_a_key(name: str, one: str, other: str) -> None:
    assert object_key(name, one) == object_key(name, other)


@pytest.mark.parametrize(
    ("name", "one", "other"),
    [
        ("likes", "基金A", "基金B经理"),
        ("likes", "tennis", "tenni"),
        ("likes", "C++", "C"),
        ("friend", "Paris", "巴黎"),
        ("friend", "James", "Jame"),
        ("phone", "13800138000", "13800138001"),
        ("likes", "coffee", "tea"),
        ("likes", "花生", "花生酱"),
    ],
)
def test_different_objects_keep_different_keys(name: str, one: str, other: str) -> None:
    assert object_key(name, one) != object_key(name, other)


def test_the_user_has_one_key_under_every_name() -> None:
    assert {subject_key(s) for s in ("user", "The user", "用户", "我", "用戶")} == {"user"}
    assert subject_key("the user's sister") == subject_key("用户的妹妹") == "user's sister"
    assert subject_key("José") == subject_key("JOSE") != "user"


@given(st.sampled_from(sorted(declared())), st.text(min_size=1))
def test_only_blank_objects_have_empty_keys(name: str, text: str) -> None:
    assert bool(object_key(name, f"x{text}"))


def test_the_table_tells_what_kind_of_object_it_knows() -> None:
    assert object_kind("臺北") == object_kind("new york") == "city"
    assert object_kind("Peanuts") == "food"
    assert object_kind("Xyzzy") is None
