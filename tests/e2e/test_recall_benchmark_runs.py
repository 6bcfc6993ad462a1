"""The recall benchmark, end to end, on a small conversation that was made up for it."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

SAID = [
    ("Ann", "I adopted a greyhound called Comet last week."),
    ("Bo", "Lovely! I have been learning to repair old watches."),
    ("Ann", "My sister Ida moved to Tromsø in spring."),
    ("Bo", "My allotment gave forty pumpkins this year."),
    ("Ann", "I sing alto in a choir on Thursdays."),
    ("Bo", "I broke my wrist when I fell off the ladder."),
]
ASKED = [
    ("What is the name of Ann's greyhound?", ["D1:1"], 4),
    ("What does Bo repair?", ["D1:2"], 4),
    ("Where does Ann's sister live?", ["D2:1"], 1),
    ("How did Bo break his wrist?", ["D2:4"], 2),
]


def conversation() -> list[dict[str, object]]:
    sessions = {
        f"session_{number}": [
            {"speaker": speaker, "dia_id": f"D{number}:{place}", "text": text}
            for place, (speaker, text) in enumerate(said, start=1)
        ]
        for number, said in ((1, SAID[:2]), (2, SAID[2:]))
    }
    times = {
        "session_1_date_time": "4:04 pm on 20 January, 2024",
        "session_2_date_time": "9:30 am on 2 May, 2024",
    }
    questions = [
        {"question": question, "answer": "", "evidence": evidence, "category": category}
        for question, evidence, category in ASKED
    ]
    speakers = {"speaker_a": "Ann", "speaker_b": "Bo"}
    return [{"sample_id": "made-up-1", "conversation": {**speakers, **times, **sessions}, "qa": questions}]


def test_a_conversation_is_imported_asked_about_and_scored(tmp_path: Path) -> None:
    data, result = tmp_path / "made_up.json", tmp_path / "result.json"
    data.write_text(json.dumps(conversation(), ensure_ascii=False), encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, "-m", "benchmarks.recall", str(data), "--language", "en", "--json", str(result)],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert "latency, one client" in ran.stdout
    measured = json.loads(result.read_text(encoding="utf-8"))
    assert measured["questions"]["scored"] == len(ASKED)
    assert sum(measured["outcomes"].values()) == len(SAID)
    assert set(measured["outcomes"]) <= {"kept", "empty"}
    assert measured["degraded_answers"] == 0
    assert measured["systems"]["BM25"]["recall@5"]["mean"] > 0.5
    assert measured["systems"]["Hindsight, similarity alone"]["recall@5"]["mean"] > 0.5


def test_a_benchmark_that_is_told_to_stop_leaves_nothing_behind(tmp_path: Path) -> None:
    data = tmp_path / "made_up.json"
    data.write_text(json.dumps(conversation()), encoding="utf-8")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.recall", str(data)],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "TMPDIR": str(temporary)},
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    # its deployment speaks on the same stream: from the first line on it runs
    address = next(line.split()[1] for line in process.stderr if line.strip().startswith("NATS"))
    process.terminate()
    process.communicate()
    assert process.returncode == 128 + signal.SIGTERM
    assert not list(temporary.iterdir())
    host, _, port = address.removeprefix("nats://").partition(":")
    with socket.socket() as probe:
        assert probe.connect_ex((host, int(port))) != 0
