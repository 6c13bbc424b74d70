"""The ``groundwatch`` program: its commands, and how an error becomes a message and an exit code."""

import sys
import traceback
from importlib.metadata import version as installed_version
from typing import Annotated

import typer

from schemas.errors import GroundwatchError
from streams.cli import (
    alerts,
    attach,
    calibrate,
    check,
    config,
    coverage,
    deadletter,
    demo,
    deploy,
    detach,
    fingerprint,
    gate,
    golden,
    intents,
    judge,
    llm,
    migrate,
    models,
    policy,
    replay,
    review,
    run,
    spend,
    store,
    traces,
)
from streams.cli.display import json_line, plain, stderr
from streams.cli.exits import ExitCode, exit_code
from streams.cli.options import AsJson

app = typer.Typer(
    name="groundwatch",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    help="Watch a RAG product on Kafka: check its answers claim by claim, and page when the share of hallucinated "
    "answers jumps.\n\nExit codes: 0 fine, 1 faults found in the input (or what was asked for is not there), "
    "2 wrong configuration or usage, 65 stopped because too much input was unreadable, 69 Kafka, store or hub "
    "unavailable, 70 a bug, 75 stopped before all work was drained, 79 ended by the watchdog.",
    epilog="Start with `groundwatch demo`; then `groundwatch config example > groundwatch.yaml` and `groundwatch run`.",
)
app.command("run")(run.run)
app.command("demo")(demo.demo)
app.command("replay")(replay.replay)
app.command("check")(check.check)
app.command("fingerprint")(fingerprint.fingerprint)
app.command("calibrate")(calibrate.calibrate)
app.command("attach")(attach.attach)
app.command("detach")(detach.detach)
app.command("coverage")(coverage.coverage)
app.command("spend")(spend.spend)
app.add_typer(alerts.app, name="alerts")
app.add_typer(traces.app, name="traces")
app.add_typer(policy.app, name="policy")
app.add_typer(deploy.app, name="deploy")
app.add_typer(deadletter.app, name="deadletter")
app.add_typer(intents.app, name="intents")
app.add_typer(judge.app, name="judge")
app.add_typer(llm.app, name="llm")
app.add_typer(golden.app, name="golden")
app.add_typer(review.app, name="review")
app.add_typer(models.app, name="models")
app.command("gate")(gate.gate)
app.add_typer(store.app, name="store")
app.add_typer(config.app, name="config")
app.command("migrate")(migrate.migrate)


def _print_version(*, is_asked: bool) -> None:
    if is_asked:
        version(as_json=False)
        raise typer.Exit


@app.callback()
def _root(
    _version: Annotated[
        bool, typer.Option("--version", callback=lambda asked: _print_version(is_asked=asked), is_eager=True)
    ] = False,
) -> None:
    """Options before the command."""


@app.command()
def version(as_json: AsJson = False) -> None:
    """Print the version of Groundwatch and of Python.

    For example: `groundwatch version --json`
    """
    number = ".".join(str(part) for part in sys.version_info[:3])
    ours = installed_version("groundwatch")
    if as_json:
        json_line({"groundwatch": ours, "python": number})
    else:
        typer.echo(f"groundwatch {ours} (Python {number})")


def main() -> None:
    """Run the program on the process's arguments and end the process with an exit code."""
    try:
        app()
    except GroundwatchError as error:
        stderr().print(plain(f"groundwatch: {error}"))
        sys.exit(exit_code(error))
    except Exception:  # noqa: BLE001  the last line of defence: a traceback and a code that supervisors can tell apart
        traceback.print_exc()
        sys.exit(ExitCode.BUG)
