"""``groundwatch demo``: the monitor on a made-up product, from nothing to a first alert."""

from typing import Annotated

import typer

from streams.cli.options import ConfigFile, settings_of


def demo(
    config: ConfigFile = None,
    live: Annotated[bool, typer.Option(help="Go on with live traffic after the history, until Ctrl-C.")] = True,
    rate: Annotated[float, typer.Option(min=0.1, max=100, help="Live traces a second.")] = 3.0,
    llm: Annotated[
        bool, typer.Option("--llm", help="Let a small language model on this machine answer live questions, too.")
    ] = False,
) -> None:
    """Replay three weeks of a demo product with a bad deploy half a day ago, show the alert, go on live.

    Starts an embedded broker and store of its own below the data folder; nothing listens beyond 127.0.0.1.

    For example:

    - `groundwatch demo` watch it live

    - `groundwatch demo --no-live` end after the first alert

    - `groundwatch demo --llm` answers of a model, asked again and judged: intent small-model, slow on two cores
    """
    settings = settings_of(config, {"embedded": True})
    from streams.agents.shell import leave  # noqa: PLC0415  as below
    from streams.demo_run import run_demo  # noqa: PLC0415  Faust takes a second to import; --help must not wait

    leave(run_demo(settings, live=live, rate=rate, llm=llm))
