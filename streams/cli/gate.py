"""``groundwatch gate``: whether a change of the product may go out, by its answers to a golden set."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sampling.policy_file import default_policy
from schemas.errors import ConfigError
from schemas.golden import Split
from schemas.policy import PolicyDocument
from streams.cli.display import json_line, stdout
from streams.cli.exits import ExitCode
from streams.cli.golden_options import SetFile
from streams.cli.options import ConfigFile, settings_of
from streams.cli.policy_files import parsed
from streams.clock import utc_now

if TYPE_CHECKING:
    from streams.gate.limits import Limits
    from streams.gate.report import GateReport

STDOUT = Path("-")
Own = Annotated[Path | None, typer.Option(help="Policy file that judges the answers; the default one when left out.")]


def gate(  # noqa: PLR0913, PLR0917 - options
    file: SetFile,
    candidate: Annotated[
        Path, typer.Option(help="The run to judge: native traces, one answer to a golden question a line.")
    ],
    baseline: Annotated[
        Path | None, typer.Option(help="The run to compare with: the same questions, asked of what is live.")
    ] = None,
    config: ConfigFile = None,
    policy: Own = None,
    baseline_policy: Annotated[
        Path | None, typer.Option(help="Policy that judged the baseline, where another one is to come into force.")
    ] = None,
    gates: Annotated[Path | None, typer.Option(help="YAML file of limits over the defaults (docs/gate.md).")] = None,
    max_hallucinated: Annotated[
        float | None, typer.Option(min=0, max=1, help="Highest share of hallucinated answers, in every tier.")
    ] = None,
    max_regressions: Annotated[
        int | None, typer.Option(min=0, help="Most cases that passed in the baseline and fail now, in every tier.")
    ] = None,
    split: Annotated[list[Split] | None, typer.Option(help="Only cases of this split; may be repeated.")] = None,
    junit: Annotated[Path | None, typer.Option(help="Write JUnit XML to this file.")] = None,
    json_: Annotated[
        Path | None,
        typer.Option("--json", help="Write the report as one JSON object to this file; - is standard output."),
    ] = None,
) -> None:
    """Judge a run of a golden set, compare it with a baseline case by case, and say whether it may go out.

    An answer belongs to the case that its field `golden_case` names, else to the one whose id is its trace id, else to
    the one that asks the same. The layers are those of the configuration, as far as the policy's routes name them. Exit
    code 0: every gate is passed, 1: one is not, 2: the run or an option is wrong.

    For example:

    - `groundwatch gate golden.jsonl --candidate new.jsonl`

    - `groundwatch gate golden.jsonl --candidate new.jsonl --baseline live.jsonl --junit gate.xml --json gate.json`

    - `groundwatch gate g.jsonl --candidate a.jsonl --baseline a.jsonl --policy new.yaml --baseline-policy old.yaml`
    """
    from streams.cli.gating import Asked, gated  # noqa: PLC0415  loads weights; --help must not wait

    if baseline_policy and not baseline:
        raise ConfigError("--baseline-policy judges the baseline; give one with --baseline")
    over = {"max_hallucinated": max_hallucinated, "max_regressions": max_regressions}
    asked = Asked(
        golden=file,
        candidate=candidate,
        baseline=baseline,
        policy=_policy(policy),
        baseline_policy=_policy(baseline_policy) if baseline_policy else None,
        limits=_limits(gates, over),
        splits=tuple(split or ()),
    )
    report = gated(asked, settings_of(config), utc_now())
    _write(report, junit, json_)
    if not report.is_passed:
        raise typer.Exit(ExitCode.FOUND_FAULTS)


def _write(report: "GateReport", junit: Path | None, as_json: Path | None) -> None:
    from streams.cli.gate_view import describe  # noqa: PLC0415  as above
    from streams.gate.junit import junit_xml  # noqa: PLC0415

    if junit:
        _save(junit, junit_xml(report))
    content = report.model_dump(mode="json")
    if as_json == STDOUT:
        json_line(content)
        return
    if as_json:
        _save(as_json, json.dumps(content, separators=(",", ":")) + "\n")
    stdout().print(describe(report))


def _save(file: Path, text: str) -> None:
    try:
        file.write_text(text, encoding="ascii")
    except OSError as error:
        raise ConfigError(f"cannot write {file}: {error.strerror}; give a path in a folder that exists") from error


def _limits(file: Path | None, over: dict[str, float | None]) -> "Limits":
    from streams.gate.limits import limits_of  # noqa: PLC0415  as above

    if file is None:
        return limits_of("", over)
    try:
        return limits_of(file.read_text(encoding="utf-8"), over)
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read {file}: {error}; give a YAML file, UTF-8") from error
    except ConfigError as error:
        raise ConfigError("\n".join(f"{file}: {line}" for line in str(error).splitlines())) from error


def _policy(file: Path | None) -> PolicyDocument:
    return parsed(file) if file else default_policy()
