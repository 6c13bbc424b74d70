"""``groundwatch deadletter``: what was given up and why, and taking it in again once the cause is mended."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from schemas.errors import ConfigError
from streams.cli.deadletter_options import Reasons, Stages, Topics, wanted_of
from streams.cli.deadletter_replay import replay
from streams.cli.deadletter_skip import skip
from streams.cli.deadletter_view import LetterShown, group_table, letter_table, shown, shown_text
from streams.cli.display import json_line, plain, stderr, stdout
from streams.cli.options import AsJson, ConfigFile, Since, settings_of
from streams.clock import utc_now
from streams.deadletters.choosing import Wanted, grouped, named
from streams.deadletters.letters import Letter, Position

app = typer.Typer(
    no_args_is_help=True,
    help="Messages that were given up: list them, look at one, take them in again once the cause is mended.",
)
app.command("replay")(replay)
app.command("skip")(skip)
ShowReplayed = Annotated[bool, typer.Option("--all", help="Also those that were replayed.")]


@app.command("list")
def list_letters(  # noqa: PLR0913, PLR0917  each option of the command is a parameter
    config: ConfigFile = None,
    reason: Reasons = None,
    stage: Stages = None,
    topic: Topics = None,
    since: Since = "",
    limit: Annotated[int, typer.Option(min=1, max=100_000, help="Newest so many.")] = 20,
    has_replayed: ShowReplayed = False,
    as_json: AsJson = False,
) -> None:
    """List open dead letters: counts by topic, stage and reason, then the newest, last one at the bottom.

    Letters are kept for `kafka.internal.dead_letter_retention_hours`, 7 days by default. With --json each letter is a
    line and there are no counts: `deadletter summary --json`.

    For example:

    - `groundwatch deadletter list`

    - `groundwatch deadletter list --reason not_json --topic traces --since 6h`
    """
    letters = _letters(config, wanted_of(reason, stage, topic, since, utc_now(), has_replayed=has_replayed))
    newest = letters[-limit:]
    if as_json:
        for letter in newest:
            json_line(letter.model_dump(mode="json"))
        return
    if not letters:
        stdout().print("No open dead letters." if not has_replayed else "No dead letters.")
        return
    stdout().print(group_table(grouped(letters)))
    stdout().print(f"\nThe newest {len(newest)} of {len(letters):,}:" if len(newest) < len(letters) else "")
    stdout().print(letter_table(newest))


@app.command("summary")
def summary(  # noqa: PLR0913, PLR0917  as above
    config: ConfigFile = None,
    reason: Reasons = None,
    stage: Stages = None,
    topic: Topics = None,
    since: Since = "",
    as_json: AsJson = False,
) -> None:
    """Count dead letters by topic, stage and reason, with the first and the last of each; replayed ones too.

    For example: `groundwatch deadletter summary --since 24h --json`
    """
    groups = grouped(_letters(config, wanted_of(reason, stage, topic, since, utc_now(), has_replayed=True)))
    if as_json:
        for group in groups:
            json_line(group.model_dump(mode="json"))
    else:
        stdout().print(group_table(groups) if groups else "No dead letters.")


@app.command("show")
def show(
    letter: Annotated[str, typer.Argument(help="Partition and offset as `deadletter list` shows them, such as 0:12.")],
    config: ConfigFile = None,
    most: Annotated[int, typer.Option("--bytes", min=0, max=1_000_000, help="Show so many bytes of the value.")] = 1000,
    raw: Annotated[
        Path | None,
        typer.Option(help="Write the value's bytes, as they came, to this file, which must not exist.", dir_okay=False),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show one dead letter: why and by whom it was refused, what was left out, key, headers and the value's beginning.

    What is no printable text is shown as escapes or in hexadecimal, so that a terminal cannot be harmed.

    For example:

    - `groundwatch deadletter show 0:12`

    - `groundwatch deadletter show 0:12 --raw message.bin` the bytes as the producer sent them
    """
    found = _shown(config, Position.parse(letter), most, raw)
    if as_json:
        json_line(found.model_dump(mode="json"))
        return
    stdout().print(shown_text(found))
    if raw is not None:
        stderr().print(plain(f"{found.kept_bytes:,} bytes written to {raw}"))


def _letters(config: Path | None, wanted: Wanted) -> list[Letter]:
    from streams.cli.deadletter_work import letters_of  # noqa: PLC0415  Kafka clients are slow to import

    found = letters_of(settings_of(config), wanted.since)
    if found.foreign:
        stderr().print(f"{found.foreign:,} messages on the topic are no letters of ours; they are left out.")
    return [letter for letter in found.letters if wanted.fits(letter)]


def _shown(config: Path | None, position: Position, most: int, raw: Path | None) -> LetterShown:
    from streams.cli.deadletter_work import letters_of, whole_of  # noqa: PLC0415  as above

    settings = settings_of(config)
    whole = whole_of(settings, position)
    known: Sequence[Letter] = letters_of(settings, whole.letter.at).letters
    letter = named(known, [position])[0]
    if raw is not None:
        _write(raw, whole.message.value or b"")
    return shown(letter, whole.message, most)


def _write(path: Path, content: bytes) -> None:
    try:
        with path.open("xb") as file:
            file.write(content)
    except OSError as error:
        raise ConfigError(f"--raw {path}: {error.strerror}; name a file that is not there yet") from error
