"""What a person, or a disk, does to the files of the index while nothing runs: it is filled anew by replay."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from test_edge_index_folder import ANNA, DIMENSION, a_row

from hindsight_common.adapters.edge_home import EdgeHome

ROWS = 40


def _home(folder: Path, model_id: str = "e5/q4") -> EdgeHome:
    return EdgeHome(folder, dimension=DIMENSION, model_id=model_id)


@pytest.fixture
async def folder(tmp_path: Path) -> Path:
    """A home whose index was committed at 77."""
    index = await _home(tmp_path / "vectors").open_live()
    await index.upsert([a_row(number) for number in range(ROWS)])
    await index.commit(77)
    await index.close()
    return tmp_path / "vectors"


def _noise(path: Path) -> None:
    path.write_bytes(random.Random(7).randbytes(path.stat().st_size))


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(shutil.rmtree, id="the whole home is gone"),
        pytest.param(lambda home: shutil.rmtree(home / "1"), id="the index is gone"),
        pytest.param(lambda home: shutil.rmtree(home / "1" / "shard"), id="the shard is gone"),
        pytest.param(
            lambda home: shutil.rmtree(home / "1" / "shard" / "segments"), id="its segments are gone"
        ),
        pytest.param(lambda home: (home / "1" / "position.json").unlink(), id="the position is gone"),
        pytest.param(
            lambda home: (home / "1" / "position.json").write_bytes(b""), id="the position is empty"
        ),
        pytest.param(lambda home: (home / "1" / "position.json").write_bytes(b"[7]"), id="it is none"),
        pytest.param(
            lambda home: (home / "1" / "index.json").write_bytes(b""), id="the description is empty"
        ),
        pytest.param(
            lambda home: _noise(home / "1" / "shard" / "edge_config.json"), id="the engine's is noise"
        ),
        pytest.param(lambda home: (home / "LIVE").write_bytes(b"\xff\xfe"), id="the pointer is noise"),
        pytest.param(lambda home: (home / "LIVE").write_bytes(b""), id="the pointer is empty"),
        pytest.param(lambda home: (home / "LIVE").write_bytes(b"7"), id="the pointer leads nowhere"),
    ],
)
async def test_a_damaged_index_begins_anew_and_asks_for_the_whole_log(
    folder: Path, damage: Callable[[Path], object]
) -> None:
    damage(folder)
    index = await _home(folder).open_live()
    # either everything is there, or nothing counts as applied
    assert await index.position() == 0
    await index.upsert([a_row(number) for number in range(ROWS)])
    await index.commit(77)
    await index.close()
    index = await _home(folder).open_live()
    assert (await index.position(), await index.count(ANNA)) == (77, ROWS)
    await index.close()


async def test_an_index_that_is_whole_stays(folder: Path) -> None:
    index = await _home(folder).open_live()
    assert (await index.position(), await index.count(ANNA)) == (77, ROWS)
    # emptied by forgetting, not by damage
    await index.delete(ANNA, [a_row(number).memory_id for number in range(ROWS)])
    await index.commit(78)
    await index.close()
    index = await _home(folder).open_live()
    assert (await index.position(), await index.count()) == (78, 0)
    await index.close()


async def test_an_index_of_another_model_begins_anew_and_never_mixes(tmp_path: Path) -> None:
    before = await EdgeHome(tmp_path, dimension=4, model_id="model/1").open_live()
    await before.commit(7)
    await before.close()
    for dimension, model_id in ((4, "model/2"), (8, "model/3")):
        anew = await EdgeHome(tmp_path, dimension=dimension, model_id=model_id).open_live()
        assert await anew.position() == 0
        await anew.commit(3)
        await anew.close()
    again = await EdgeHome(tmp_path, dimension=8, model_id="model/3").open_live()
    assert await again.position() == 3
    await again.close()
