"""What the stub answers: steps for the requests to come, then always the same."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from hindsight_common.errors import StopAndFix

_LINE = re.compile(r'^\s*(\{"id": .*\})\s*$', re.MULTILINE)


_LONGEST_ECHO: Final = 200


@dataclass(frozen=True, slots=True)
class Step:
    """One answer. `reply` None = what the user said, echoed as events. `delay_s` comes before anything is answered.

    A `status` other than 200 is answered with `body`. `times` requests get this step; `if_body_has` lets it pass
    by those requests whose body does not hold the text (white space apart).
    """

    reply: str | None = None
    finish_reason: str = "stop"
    status: int = 200
    body: str = '{"error": {"message": "the stub was told to fail", "type": "stub"}}'
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    times: int = 1
    if_body_has: str | None = None
    # `reply`, or the echo, is put into this text in the place of {reply}
    around: str = "{reply}"
    # so much of the reply is left, in 0–1
    share: float = 1.0

    def answers(self, body: str) -> bool:
        return self.if_body_has is None or _bare(self.if_body_has) in _bare(body)


# faults by name, each lasting until another script is set
FAULTS: Final[Mapping[str, Step]] = {
    "none": Step(),
    "slow": Step(delay_s=5.0),
    "hang": Step(delay_s=3600.0),
    "429": Step(status=429, headers={"Retry-After": "1"}),
    "500": Step(status=500),
    "503": Step(status=503),
    "401": Step(status=401),
    "404": Step(status=404),
    "cut": Step(share=0.6, finish_reason="length"),
    "fenced": Step(around="Here it is:\n```json\n{reply}\n```\nAnything else?"),
    "prose": Step(reply="The user told me something about themselves."),
    "thinking": Step(around='<think>perhaps {"memories": [] }, or rather</think>\n{reply}'),
    "only-thinking": Step(reply="<think>still thinking about {", finish_reason="length"),
    "shape": Step(reply='{"answer": {"nothing": "of the form"}}'),
    "empty": Step(reply=""),
    "nothing": Step(reply='{"memories": []}'),
    "refusal": Step(reply="I'm sorry, I can't help with extracting personal information."),
    "no-json-schema": Step(
        status=400,
        body='{"error": "\'response_format.type\' json_schema is not supported"}',
        if_body_has='"type":"json_schema"',
    ),
    "no-json-object": Step(
        status=400,
        body="{\"error\": \"'response_format.type' must be 'json_schema' or 'text'\"}",
        if_body_has='"type":"json_object"',
    ),
}


class Script:
    """Steps in order; when they are used up, `always` answers, the first of it that applies, then the echo."""

    def __init__(self, steps: Sequence[Step] = (), always: Sequence[Step] = ()) -> None:
        self._steps = list(steps)
        self._always = tuple(always)

    @staticmethod
    def of_json(text: str) -> Script:
        """A list of steps, or an object with `steps` and `always`; a step may also be the name of a fault.

        Raises `StopAndFix` naming what is wrong.
        """
        try:
            read = json.loads(text)
        except ValueError as error:
            raise StopAndFix(f"the script is no JSON: {error}") from error
        parts = {"steps": read} if isinstance(read, list) else read
        if not isinstance(parts, dict) or not set(parts) <= {"steps", "always"}:
            raise StopAndFix("a script is a list of steps, or an object with steps and always")
        return Script(*([_step(one) for one in parts.get(name, [])] for name in ("steps", "always")))

    def next(self, body: str) -> Step:
        """The step for a request; uses it up."""
        for number, step in enumerate(self._steps):
            if step.answers(body):
                if step.times > 1:
                    self._steps[number] = replace(step, times=step.times - 1)
                else:
                    del self._steps[number]
                return step
        return next((step for step in self._always if step.answers(body)), Step())


def reply_text(step: Step, request: Mapping[str, Any]) -> str:
    """What the model says, after all that the step does to it."""
    reply = _echo(request) if step.reply is None else step.reply
    told = step.around.replace("{reply}", reply)
    return told[: int(len(told) * step.share)] if step.share < 1 else told


def _echo(request: Mapping[str, Any]) -> str:
    """An event for each message of the user in the last request, in its first words; the lines of data are JSON
    objects with ids.
    """
    messages = request.get("messages") or [{}]
    told = str(messages[-1].get("content", ""))
    lines = [json.loads(line) for line in _LINE.findall(told)]
    said = [
        line for line in lines if line.get("speaker") != "assistant" and str(line.get("text", "")).strip()
    ]
    events = [
        {
            "type": "event",
            "summary": line["text"][:_LONGEST_ECHO],
            "people": [],
            "message": line["id"],
            "importance": 0.5,
        }
        for line in said
    ]
    return json.dumps({"memories": events}, ensure_ascii=False)


def _step(read: object) -> Step:
    if isinstance(read, str):
        if read not in FAULTS:
            raise StopAndFix(f"{read!r} is no fault; there are {', '.join(FAULTS)}")
        return FAULTS[read]
    known = set(Step.__dataclass_fields__)
    if not isinstance(read, dict) or not set(read) <= known:
        raise StopAndFix(f"a step is the name of a fault or an object with any of {', '.join(sorted(known))}")
    reply = read.get("reply")
    if reply is not None and not isinstance(reply, str):
        read = {**read, "reply": json.dumps(reply, ensure_ascii=False)}
    return Step(**read)


def _bare(text: str) -> str:
    return "".join(text.split())
