"""``groundwatch models``: the models that verify can load, whether they are whole, and how to get them."""

from pathlib import Path
from typing import Annotated

import typer

from streams.cli.display import json_line, plain, stderr, stdout
from streams.cli.exits import ExitCode
from streams.cli.models_view import checked_text, models_table, pulled_text
from streams.cli.options import AsJson, ConfigFile, settings_of

app = typer.Typer(
    no_args_is_help=True, help="Models of drawn traces (layer L2): list, get and check them (docs/models.md)."
)


@app.command("list")
def list_models(config: ConfigFile = None, as_json: AsJson = False) -> None:
    """List the models that can be used: those that ship with us, those of the catalogue, those in the models folder.

    A star marks the one that verify would use now. States: `present` (names and sizes are those of its manifest;
    `check` compares the content), `absent`, `damaged`, and `unchecked` (there, without a manifest).

    For example:

    - `groundwatch models list`

    - `groundwatch models list --json | jq -r 'select(.state == "damaged") | .name'`
    """
    from streams.cli.modelling import shown_models  # noqa: PLC0415  --help must not wait for detectors

    shown = shown_models(settings_of(config))
    if as_json:
        for model in shown:
            json_line(model.model_dump(mode="json"))
    else:
        stdout().print(models_table(shown))


@app.command()
def pull(  # noqa: PLR0913, PLR0917  each option of the command is a parameter
    model: Annotated[
        str, typer.Argument(help="A name from `groundwatch models list`, owner/name of the hub, or, with --from, any.")
    ],
    config: ConfigFile = None,
    source: Annotated[
        Path | None, typer.Option("--from", help="Copy this folder instead of asking a hub; links in it are refused.")
    ] = None,
    revision: Annotated[
        str, typer.Option(help="Commit of the hub, 40 hex digits; that of the catalogue when left out.")
    ] = "",
    name: Annotated[str, typer.Option("--as", help="Name for it here; its own when left out.")] = "",
    replace: Annotated[bool, typer.Option("--replace", help="Put it in the place of what has that name now.")] = False,
    as_json: AsJson = False,
) -> None:
    """Get a model into the models folder: from a hub at a full commit, or from a folder; safe to repeat.

    Only safetensors, JSON and vocabularies of tokenizers are taken: pickled weights and programs (`*.bin`, `*.py`)
    never are, and code of a model is never run. Sizes and SHA-256 are written beside the files, and compared with what
    hub and catalogue say. A download that broke off goes on where it was. For a model behind a login set HF_TOKEN.
    Without a network copy the folder from a machine that has it, and give it with --from. Exits with 69 when the hub
    does not answer, with 1 when it has no such model.

    For example:

    - `groundwatch models pull hhem-2.1-open` then `models: {use: hhem-2.1-open}` in the configuration

    - `groundwatch models pull hhem-2.1-open --from /media/usb/hhem-2.1-open`

    - `groundwatch models pull our-org/our-nli --revision 6f5cf0a2b59cabb106aca4c287eed12e357e90eb --as nli`
    """
    from streams.cli.modelling import pull_model  # noqa: PLC0415  as above

    pulled = pull_model(settings_of(config), model, name=name, revision=revision, source=source, replaces=replace)
    if as_json:
        json_line(pulled.model_dump(mode="json"))
    else:
        stdout().print(plain(pulled_text(pulled)))


@app.command()
def check(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Names from `groundwatch models list`; all that are there when left out."),
    ] = None,
    config: ConfigFile = None,
    files_only: Annotated[
        bool, typer.Option("--files-only", help="Compare files and checksums alone; needs no extra installed.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Check models: every file against its SHA-256, the layout, and a short run on the device of the settings.

    Exits with 1 when a model is absent, damaged, or does not load.

    For example:

    - `groundwatch models check` before the verify workers are started again

    - `groundwatch models check hhem-2.1-open --json | jq .claims_per_second`

    - `groundwatch models check --files-only` on the machine that keeps the copies
    """
    from streams.cli.modelling import check_models  # noqa: PLC0415  as above

    has_faults, has_any = False, False
    for checked in check_models(settings_of(config), names or [], loads=not files_only):
        has_any = True
        has_faults = has_faults or bool(checked.faults)
        if as_json:
            json_line(checked.model_dump(mode="json"))
        else:
            stdout().print(checked_text(checked))
    if not has_any:
        stderr().print("No model is there. `groundwatch models list` shows those that can be had.")
    if has_faults:
        raise typer.Exit(ExitCode.FOUND_FAULTS)
