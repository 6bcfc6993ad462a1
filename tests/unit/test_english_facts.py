"""English facts as people type them: without subjects, in passing, as answers, of their families."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest

from hindsight_common.ports.extraction import ExtractedItem, Message, Turn
from hindsight_extractor.domain.rules import RuleExtractor

AT = datetime(2026, 6, 3, 9, 0, tzinfo=UTC)  # a Wednesday


def items(*contents: str, question: str | None = None) -> tuple[ExtractedItem, ...]:
    before = (Message(id="q", role="assistant", content=question, name=None),) if question else ()
    spoken = tuple(
        Message(id=f"m{i}", role="user", content=text, name=None) for i, text in enumerate(contents)
    )
    turn = Turn(
        tenant="default",
        user_id="u",
        session_id="s",
        turn_id="t",
        role=None,
        occurred_at=AT,
        occurred_inferred=False,
        accepted_at=AT,
        time_zone="UTC",
        messages=before + spoken,
    )
    return asyncio.run(RuleExtractor().extract(turn)).items


def facts(*contents: str, question: str | None = None) -> list[str]:
    """Each as "predicate object", with the subject before it where that is not the user, and "no longer" if negated."""
    found = []
    for item in items(*contents, question=question):
        if item.type == "fact":
            whose = "" if item.subject == "user" else f"{item.subject}: "
            found.append(f"{whose}{'not ' if item.negated else ''}{item.predicate} {item.object}")
    return found


@pytest.mark.parametrize(
    ("said", "stated"),
    [
        ("allergic to latex btw", ["allergic_to latex"]),
        ("Severely allergic to wasps", ["allergic_to wasps"]),
        ("Sesame allergy here", ["allergic_to Sesame"]),
        ("pescatarian, no dairy", ["diet pescatarian", "avoids dairy"]),
        ("kosher only please", ["diet kosher"]),
        ("Married to Ingrid", ["spouse Ingrid"]),
        ("Recently divorced, two kids", ["marital_status divorced", "has_children two kids"]),
        ("widower", ["marital_status widower"]),
        ("Retired paramedic here", ["job Retired paramedic"]),
        ("night porter, 58", ["job night porter", "age 58"]),
        ("34, female", ["age 34", "gender female"]),
        ("Own a narrowboat near Bath", ["owns a narrowboat"]),
        ("Live in Bergen", ["lives_in Bergen"]),
        ("Born in Nairobi, now living in Antwerp", ["born_in Nairobi", "lives_in Antwerp"]),
        ("grew up in Cebu City", ["hometown Cebu City"]),
        ("Blood group O positive", ["blood_type O positive"]),
        ("Type 2 diabetic", ["has_condition Type 2 diabetic"]),
        ("Fibromyalgia since 2011", ["has_condition Fibromyalgia"]),
        ("Ramipril 5 mg", ["takes_medicine Ramipril 5 mg"]),
        ("Third year chemistry at Uppsala", ["studies chemistry"]),
        ("Can't eat raw eggs", ["not eats raw eggs"]),
        ("hate cilantro", ["dislikes cilantro"]),
        ("switched to oat milk last month", ["uses oat milk"]),
        ("treasurer of our local rowing club", ["member_of local rowing club"]),
        ("wheelchair user, ground floor please", ["uses wheelchair"]),
        ("mum of three", ["has_children three"]),
    ],
)
def test_a_clause_without_a_subject_is_its_writers_own(said: str, stated: list[str]) -> None:
    assert [fact for fact in facts(said) if fact in stated] == stated


@pytest.mark.parametrize(
    ("question", "answer", "stated"),
    [
        ("And who am I speaking to?", "tamsin", "name tamsin"),
        ("What's your name?", "Oyelaran", "name Oyelaran"),
        ("Which blood type are you?", "AB pos", "blood_type AB pos"),
        ("Where do you live?", "Gdansk", "lives_in Gdansk"),
        ("Any allergies I should know of?", "kiwi and walnuts", "allergic_to kiwi"),
        ("What do you do for a living?", "bus driver", "job bus driver"),
        ("How old are you?", "61", "age 61"),
        ("Are you married?", "divorced", "marital_status divorced"),
        ("Which languages do you speak?", "Tamil and English", "speaks Tamil"),
        ("Thanks! What medications are you on?", "warfarin", "takes_medicine warfarin"),
    ],
)
def test_a_bare_answer_states_what_was_asked(question: str, answer: str, stated: str) -> None:
    assert stated in facts(answer, question=question)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Any allergies?", "none"),
        ("What's your name?", "why do you ask"),
        ("Where do you live?", "I'd rather not say"),
        ("Shall I book it? It has a view of Prague.", "yes"),
        ("What's the name of the restaurant?", "no idea"),
    ],
)
def test_an_answer_that_gives_nothing_states_nothing(question: str, answer: str) -> None:
    assert facts(answer, question=question) == []


@pytest.mark.parametrize(
    ("said", "stated"),
    [
        ("Mum is 71 and lives in Kisumu", ["the user's Mum: age 71", "the user's Mum: lives_in Kisumu"]),
        ("Dad's allergic to penicillin", ["the user's Dad: allergic_to penicillin"]),
        ("mother in law can't have gluten", ["the user's mother in law: not eats gluten"]),
        ("My sister's a vet in Leeds", ["the user's sister: job vet"]),
        ("my flatmate Ines is vegan", ["roommate Ines", "Ines: diet vegan"]),
        ("Bettina my neighbour plays the trumpet", ["Bettina: plays trumpet"]),
        ("Goran from accounting speaks Croatian", ["Goran: speaks Croatian"]),
        ("Hana who cuts my hair has two ferrets", ["Hana: has_pet two ferrets"]),
        ("The lodger, Mr Adeyemi, has epilepsy", ["Mr Adeyemi: has_condition epilepsy"]),
        ("Husband's Matteo, he is a welder", ["spouse Matteo"]),
        (
            "my daughter Ruth got married and works for Siemens",
            ["daughter Ruth", "Ruth: marital_status married", "Ruth: employer Siemens"],
        ),
        ("I live with my cousins Amir, Leila and Noor", []),
        ("went hiking with 2 friends Amir and Leila", ["friend Amir", "friend Leila"]),
        ("need a book for my nephew. plays the oboe", ["the user's nephew: plays oboe"]),
        ("They put my aunt on atorvastatin", []),
        ("Grandpa turned 80 last Sunday", ["the user's Grandpa: age 80"]),
        ("my abuela hates celery", ["the user's abuela: dislikes celery"]),
        (
            "A present for my aunt: she's a welder, hates perfume",
            ["the user's aunt: job welder", "the user's aunt: dislikes perfume"],
        ),
        (
            "My manager is Agnieszka, with clients she goes by Aga",
            ["boss Agnieszka", "Agnieszka: called Aga"],
        ),
        (
            "my gran, 93, still lives alone in Swansea",
            ["the user's gran: age 93", "the user's gran: lives_in Swansea"],
        ),
        (
            "My landlord Mr. Petrov speaks Bulgarian",
            ["acquaintance Mr. Petrov", "Mr. Petrov: speaks Bulgarian"],
        ),
        ("just me and the kids Ama, Yaw and Esi", ["child Ama", "child Yaw", "child Esi"]),
    ],
)
def test_what_is_said_of_others_stands_under_them(said: str, stated: list[str]) -> None:
    found = facts(said)
    assert [fact for fact in found if fact in stated] == stated
    assert not [fact for fact in found if ":" not in fact and fact.split()[0] not in _OF_PEOPLE]


_OF_PEOPLE = {"roommate", "spouse", "daughter", "friend", "relative", "acquaintance", "boss", "child"}


@pytest.mark.parametrize(
    "said",
    [
        "My wife booked it. Vegan, no nuts.",
        "A client needs a menu. allergic to shellfish",
        "The new nurse started on Monday, allergic to dogs",
        "my brother is visiting, diabetic, 45",
        "Nobody in the family is religious. Catholic school though",
        "My son has a friend. 12 years old",
    ],
)
def test_what_may_be_said_of_somebody_else_is_nobodys(said: str) -> None:
    assert [fact for fact in facts(said) if ":" not in fact] == []


@pytest.mark.parametrize(
    ("said", "stated"),
    [
        ("Most people call me Bex", "called Bex"),
        ("friends just say Gus", "called Gus"),
        ("My birth certificate says Nwachukwu", "name Nwachukwu"),
        ("I turned 50 in March", "age 50"),
        ("I'm aged 29", "age 29"),
        ("Shrimp gives me hives", "allergic_to Shrimp"),
        ("Kiwi makes my throat itch", "allergic_to Kiwi"),
        ("Onions upset my stomach", "intolerant_to Onions"),
        ("dairy destroys my gut", "intolerant_to dairy"),
        ("I was put on sertraline in May", "takes_medicine sertraline"),
        ("My doctor prescribed me naproxen", "takes_medicine naproxen"),
        ("I'm on enalapril 10 mg", "takes_medicine enalapril 10 mg"),
        ("I'm living with MS", "has_condition MS"),
        ("My asthma is worse in spring", "has_condition asthma"),
        ("I'm hard of hearing", "has_condition hard of hearing"),
        ("Liver makes me gag", "dislikes Liver"),
        ("what I can't stand is small talk", "dislikes small talk"),
        ("what i love is bouldering", "likes bouldering"),
        ("Karaoke isn't my thing", "dislikes Karaoke"),
        ("I'm a sucker for old maps", "likes old maps"),
        ("I'm more of a tea person", "likes tea"),
        ("I'm not a coffee person", "dislikes coffee"),
        ("mangoes are life", "likes mangoes"),
        ("my hobbies are knitting and archery", "likes archery"),
        ("give me metric, never imperial", "prefers metric"),
        ("bullet points please", "prefers bullet points"),
        ("British spelling, no emojis", "prefers British spelling"),
        ("I'm a Linux user", "uses Linux"),
        ("I write mostly in Kotlin", "uses Kotlin"),
        ("can't sleep without earplugs", "uses earplugs"),
        ("I keep bees and hens", "has_pet bees"),
        ("We adopted a whippet, Pilot", "has_pet Pilot"),
        ("I run a small bakery in Lyon", "owns a small bakery"),
        ("there's a cottage in Wales that we own", "owns a cottage"),
        ("My car is a 2012 Skoda", "owns 2012 Skoda"),
        ("I drive a school bus", "job school bus"),
        ("I tune pianos for a living", "job tune pianos"),
        ("my job is bricklayer", "job bricklayer"),
        ("I'm semi-retired", "job semi-retired"),
        ("I'm doing a master's in hydrology", "studies hydrology"),
        ("I'm taking cello lessons", "learning cello"),
        ("My Hungarian is rusty", "speaks Hungarian"),
        ("I sing in the parish choir", "member_of the parish choir"),
        ("I'm captain of the village cricket team", "member_of the village cricket team"),
        ("my employer is Ostrava Steel", "employer Ostrava Steel"),
        ("I drive for Uber", "employer Uber"),
        ("I'm not vegetarian anymore", "not diet vegetarian"),
        ("no wine for me anymore", "not drinks wine"),
        ("im a mum of twins", "has_children twins"),
        ("in Oslo we have a cat", "has_pet a cat"),
        ("at work I use Emacs", "uses Emacs"),
        ("Marisol, 41, ER nurse in Tucson, two boys", "has_children two boys"),
        ("I'm from Porto, living in Ghent with my girlfriend Lotte", "lives_in Ghent"),
        ("Switched from Android to an iPhone 15", "uses an iPhone 15"),
        ("my least favourite food is liver", "dislikes liver"),
        ("hi, Tom here, the one with the broken boiler", "name Tom"),
        ("doctor put me on 20 mg of lisinopril", "takes_medicine 20 mg of lisinopril"),
    ],
)
def test_what_is_said_in_passing_is_a_fact(said: str, stated: str) -> None:
    assert stated in facts(said)


@pytest.mark.parametrize(
    "said",
    [
        "I love the colors",
        "love your painting",
        "Love and peace can be found anywhere",
        "Themes like friendship matter",
        "Especially love the ending",
        "I'm learning a ton",
        "I drink three of those before noon",
        "Use the metro to get there",
        "Take the bus, it's faster",
        "Have a look at the menu",
        "I love to help",
        "I like creating a safe, welcoming place",
        "I teach people about it",
        "Nickel is rising again",
        "The bus is 46 minutes late",
        "I hate it when it rains",
        "I'm a morning person",
        "Kids love pizza",
        "I have a hotel booked in Rome",
        "we have chicken tonight",
        "Enjoy the weekend",
        "it's Thursday with a twist",
        "In my dream I was a pilot",
        "Running late again, three buses full",
        "my results are back: 6.1",
        "write a short bio: nurse, 34, lives in Oslo",
        "size 38, please",
        "We have twins on the way",
    ],
)
def test_what_only_looks_like_a_fact_is_none(said: str) -> None:
    assert facts(said) == []


@pytest.mark.parametrize(
    ("said", "content"),
    [
        (
            "lol I just dropped my phone in the canal yesterday haha",
            "I dropped my phone in the canal yesterday",
        ),
        ("Wow, the recital went really well!", "the recital went well!"),
        (
            "I'm Petra. My landlord raised the rent by 80 euros, can you believe it?",
            "My landlord raised the rent by 80 euros",
        ),
        (
            "I'm allergic to kiwi and my sister broke her wrist on Monday",
            "my sister broke her wrist on Monday",
        ),
        ("The boiler broke on 2 June", "The boiler broke on 2 June"),
    ],
)
def test_an_event_is_told_shorter_in_the_same_words(said: str, content: str) -> None:
    assert [item.content for item in items(said) if item.type == "event"] == [content]


def test_a_clause_that_names_whom_the_next_speaks_of_stays_with_it() -> None:
    told = [
        item.content for item in items("My friend Odile has asthma, she fainted at the station yesterday")
    ]
    assert "My friend Odile has asthma, she fainted at the station yesterday" in told


def test_an_event_takes_its_day_from_what_it_tells() -> None:
    found = items("I was born in 1990 in Split, raised in Toronto, and I hold both passports")
    assert [(item.content, item.valid_from) for item in found if item.type == "event"] == [
        ("I hold both passports", None)
    ]


def test_of_two_times_the_end_of_a_span_is_not_when_it_happens() -> None:
    found = items("I'm offline until Saturday night. The surveyor can come on Sunday")
    assert [item.valid_from.date().isoformat() for item in found if item.valid_from] == ["2026-06-07"]
