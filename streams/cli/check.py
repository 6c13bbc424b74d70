"""``groundwatch check``: verdicts on the spot, for trying out a policy or looking into one answer."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from sampling.policy_file import default_policy, parse_policy
from schemas.errors import ConfigError
from schemas.finding import Finding
from schemas.labels import Containment, Layer
from schemas.policy import PolicyDocument
from schemas.verdict import ClaimVerdict, Verdict
from streams.cli.display import json_line, plain, stderr, stdout, styled
from streams.cli.exits import ExitCode
from streams.cli.options import ConfigFile, settings_of
from streams.cli.recorded import STDIN, read_lines
from streams.cli.verdict_view import consistency_line, failures_line, judged_line, routing_lines
from streams.clock import utc_now
from streams.settings import Settings

if TYPE_CHECKING:
    from streams.cli.checking import Checked

FILE_BATCH = 64
"""From standard input each line is judged at once: a program may be waiting for its answer."""


def check(
    files: Annotated[list[Path], typer.Argument(help="JSON Lines files, plain or gzip; - is standard input.")],
    config: ConfigFile = None,
    policy: Annotated[
        Path | None, typer.Option(help="Policy file for thresholds and rules; the default policy when left out.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line, in the order of the input.")] = False,
) -> None:
    """Verify traces without Kafka or a store, and print claims, labels, evidence, outcome and containment.

    The layers are those of the configuration, as far as the policy's routes name them: models are loaded, and a judge
    or a model that is asked again costs what it costs, outside the hourly budget.

    `would deliver` is what a user would read: the answer, the answer without its bad claims, or the fallback text.

    A line that is no trace is reported with its number and field; the rest is checked, and the exit code is 1.

    For example:

    - `groundwatch check traces.jsonl`

    - `groundwatch check - --json < traces.jsonl | jq -r .outcome | sort | uniq -c`
    """
    rules = _policy(policy)
    faults = 0
    for checked in _results(files, rules, settings_of(config)):
        faults += bool(checked.fault)
        _show(checked, as_json=as_json)
    if faults:
        stderr().print(f"{faults} lines could not be checked")
        raise typer.Exit(ExitCode.FOUND_FAULTS)


def _results(files: list[Path], rules: PolicyDocument, settings: Settings) -> "Iterator[Checked]":
    from streams.cli.checking import check_lines  # noqa: PLC0415  loads word lists; --help must not wait
    from streams.cli.layered import detectors_of  # noqa: PLC0415

    batch_size = 1 if STDIN in files else FILE_BATCH
    detector, above = detectors_of(settings)
    return check_lines(read_lines(files), detector, rules, utc_now(), batch_size, above=above)


def _policy(file: Path | None) -> PolicyDocument:
    if file is None:
        return default_policy()
    try:
        return parse_policy(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read {file}: {error}") from error


def _show(checked: "Checked", *, as_json: bool) -> None:
    from streams.cli.checking import as_json as to_json  # noqa: PLC0415  as above

    if checked.fault:
        stderr().print(plain(f"{checked.line.where}: {checked.fault}"))
    if as_json:
        json_line(to_json(checked))
    elif checked.verdict is not None:
        stdout().print(describe(checked.verdict, checked.delivered))


def describe(verdict: Verdict, delivered: str) -> Text:
    """A verdict as lines of text: the outcome, each claim with its evidence, and what a user would read."""
    score = "" if verdict.score is None else f"  score {verdict.score:.2f}"
    faithfulness = "" if verdict.faithfulness is None else f"  faithfulness {verdict.faithfulness:.2f}"
    head = Text.assemble(
        (plain(verdict.trace_id), "bold"),
        "  ",
        styled(verdict.outcome),
        f"{score}{faithfulness}  ",
        styled(verdict.containment),
        f"  {failures_line(verdict)}",
    )
    claims = [line for claim in verdict.claims for line in _claim_lines(claim)]
    findings = [_finding_line(finding) for finding in verdict.findings]
    judged = Text(plain(f"  judged: {judged_line(verdict)}"), style="dim")
    layers = list(_layer_lines(verdict))
    return Text("\n").join([head, *claims, *findings, judged, *layers, *_delivered_lines(verdict, delivered), Text("")])


def _finding_line(finding: Finding) -> Text:
    where = "" if finding.claim is None else f" (claim {finding.claim})"
    detail = f": {finding.detail}" if finding.detail else ""
    return Text.assemble("  finding ", (finding.rule.value, "yellow"), plain(f"{where}{detail}"))


def _layer_lines(verdict: Verdict) -> Iterator[Text]:
    """What became of each layer, where one above L1 ran: the others always do."""
    if any(run.ran and run.layer not in {Layer.L0, Layer.L1} for run in verdict.routing):
        yield from (Text(plain(f"  {line}"), style="dim") for line in routing_lines(verdict))
    if verdict.consistency is not None:
        yield Text(plain(f"  samples {consistency_line(verdict.consistency)}"), style="dim")


def _delivered_lines(verdict: Verdict, delivered: str) -> Iterator[Text]:
    if verdict.containment is Containment.DELIVER:
        yield Text("  would deliver: the answer as it is")
        return
    yield Text("  would deliver:")
    for line in plain(delivered).split("\n"):
        yield Text(f"    {line}", style="italic")


def _claim_lines(judged: ClaimVerdict) -> Iterator[Text]:
    scores = "" if judged.support is None else f" {judged.support:.2f}"
    critical = f" [critical: {judged.claim.critical_rule}]" if judged.claim.critical_rule else ""
    source = f" [{judged.source}]" if judged.source else ""
    text = f"({judged.claim.subject}) {judged.claim.text}" if judged.claim.subject else judged.claim.text
    label = styled(judged.error or judged.label)
    yield Text.assemble("  ", label, plain(f"{scores}{source}{critical}  {text}"))
    if judged.evidence is not None:
        yield Text(plain(f"      {judged.evidence.doc_id or 'passage'}: {judged.evidence.text}"), style="dim")
    if judged.why:
        yield Text(plain(f"      {judged.why}"), style="dim")
