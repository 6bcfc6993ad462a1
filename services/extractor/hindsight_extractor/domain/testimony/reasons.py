"""Why something that stands in a message is no evidence of what it says."""

from __future__ import annotations

from enum import StrEnum


class Reason(StrEnum):
    """The first ones take whole passages out of a message, the others keep a sentence from being remembered."""

    SNAPSHOT = "snapshot"
    CODE = "code"
    FOREIGN = "foreign"
    ENCODED = "encoded"
    QUOTED = "quoted"
    FORWARDED = "forwarded"
    DIALOGUE = "dialogue"
    MATERIAL = "material"
    INVENTED = "invented"
    IRONY = "irony"
    JOKE = "joke"
    SUPPOSED = "supposed"
    QUESTION = "question"
    REQUEST = "request"
    REMARK = "remark"
    NOTHING = "nothing"
    OTHER_ROLE = "other_role"
    INSTRUCTION = "instruction"
