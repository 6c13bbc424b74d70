"""``groundwatch fingerprint``: what makes verdicts a series of their own, and what changed between two."""

import re
from pathlib import Path
from typing import Annotated, Any

import typer
import yaml
from rich.text import Text

from sampling.policy_file import default_policy
from schemas.base import Record, UtcDatetime
from schemas.errors import ConfigError, GroundwatchError, NotReached
from schemas.labels import Layer
from schemas.policy import PolicyDocument
from streams.cli.display import json_line, moment, plain, stderr, stdout
from streams.cli.options import AsJson, ConfigFile, settings_of
from streams.cli.policy_files import parsed
from streams.clock import utc_now
from streams.settings import Settings
from streams.settings.verify import Verify

_STORED = re.compile(r"[0-9a-f]{16}")
NOW = "now"
_MEANS = {
    "detector": "other weights, features or model: the same claim gets other scores",
    "layers": "other layers of detection took part",
    "splitter": "answers are split into other claims",
    "l0": "other structural checks: other claims are found unsupported by their structure alone",
    "phrases": "other phrase lists: other sentences count as claims, refusals or deeds",
}
_OF_THRESHOLD = "the same scores get other labels"


class Made(Record):
    """A fingerprint and its parts; ``source`` says where they come from, the times when stored verdicts have it."""

    source: str
    fingerprint: str
    parts: dict[str, str]
    first_ts: UtcDatetime | None = None
    last_ts: UtcDatetime | None = None


class ChangedPart(Record):
    """A part that differs, and what that means; empty where a side has no such part."""

    part: str
    before: str
    after: str
    means: str


class Shown(Record):
    """What is printed: a fingerprint and, with ``--compare``, what it was compared with and what differs."""

    source: str
    fingerprint: str
    parts: dict[str, str]
    first_ts: UtcDatetime | None = None
    last_ts: UtcDatetime | None = None
    compared_with: Made | None = None
    is_same_series: bool | None = None
    changed: tuple[ChangedPart, ...] | None = None


def fingerprint(
    config: ConfigFile = None,
    policy: Annotated[
        Path | None, typer.Option(help="Policy file; the policy in force, or else the default one, when left out.")
    ] = None,
    compare: Annotated[
        tuple[str, str],
        typer.Option(
            metavar="A B",
            help="Say what differs between two: each a policy file, a configuration file, a fingerprint of stored "
            "verdicts (16 hex digits), or `now`.",
        ),
    ] = ("", ""),
    stored: Annotated[bool, typer.Option("--stored", help="List the fingerprints of stored verdicts.")] = False,
    as_json: AsJson = False,
) -> None:
    """Print the fingerprint that verdicts get now, part by part, or why two series differ.

    Verdicts of different fingerprints are different series: rates and alerts are never taken over several of them.
    Sampling, bars, critical rules and fallback texts are no parts.

    For example:

    - `groundwatch fingerprint --policy policy.yaml` would it start a new series?

    - `groundwatch fingerprint --compare now policy.yaml`

    - `groundwatch fingerprint --compare 929aa7dd3fa2fe81 5c0b6e2f4d17a930` why one line ends and another begins
    """
    settings = settings_of(config)
    if any(compare):
        found = compared(_side(compare[0], settings), _side(compare[1], settings))
        _print(found, _comparison_text(found), as_json=as_json)
    elif stored:
        for made in _stored(settings):
            _print(made, _made_text(made), as_json=as_json)
    else:
        made = _of(parsed(policy), str(policy), settings.verify) if policy else _now(settings)
        _print(made, _made_text(made), as_json=as_json)


def compared(before: Made, after: Made) -> Shown:
    """What differs between two, with what each difference means. Raises NotReached where the parts are not known."""
    from detectors.fingerprint import changed_parts  # noqa: PLC0415  loads word lists; --help must not wait

    for made in (before, after):
        if not made.parts:
            raise NotReached(f"{made.source}: its verdicts are of a version that did not store what it is made of")
    changed = tuple(
        ChangedPart(part=name, before=old, after=new, means=_MEANS.get(name, _OF_THRESHOLD))
        for name, old, new in changed_parts(before.parts, after.parts)
    )
    return Shown(**after.model_dump(), compared_with=before, is_same_series=not changed, changed=changed)


def _of(policy: PolicyDocument, source: str, verify: Verify) -> Made:
    from detectors.claims import splitter_name  # noqa: PLC0415  as above
    from detectors.evidence import load_evidence_detector  # noqa: PLC0415
    from detectors.fingerprint import digest, fingerprint_parts  # noqa: PLC0415
    from streams.completion import llm_splitter  # noqa: PLC0415

    model = llm_splitter(verify)
    splitter = model.name if model else splitter_name(policy.claims.split)
    detector = load_evidence_detector().fingerprint
    parts = fingerprint_parts(detector, policy.thresholds, (Layer.L0, Layer.L1), splitter=splitter)
    return Made(source=source, fingerprint=digest(parts), parts=parts)


def _now(settings: Settings) -> Made:
    from streams.cli.policy import published  # noqa: PLC0415  the store's client is slow to import
    from streams.cli.policy_log import in_force  # noqa: PLC0415

    try:
        holds = in_force(published(settings), utc_now())
    except GroundwatchError as error:
        stderr().print(plain(f"The default policy is taken, since the one in force is not known: {error}"))
        return _of(default_policy(), "default policy", settings.verify)
    return _of(holds.document, f"policy {holds.policy_id} in force", settings.verify)


def _side(text: str, settings: Settings) -> Made:
    if text == NOW:
        return _now(settings)
    if _STORED.fullmatch(text) and not Path(text).exists():
        found = _stored(settings, text)
        if not found:
            raise NotReached(
                f"no stored verdict has the fingerprint {text}; `groundwatch fingerprint --stored` lists them"
            )
        return found[0]
    if not text or not Path(text).is_file():
        raise ConfigError(f"--compare {text!r}: give a policy file, a configuration file, 16 hex digits, or {NOW}")
    if _is_configuration(Path(text)):
        return _now(settings_of(Path(text))).model_copy(update={"source": text})
    return _of(parsed(Path(text)), text, settings.verify)


def _is_configuration(file: Path) -> bool:
    """A policy has a name, which no configuration has; a file that is no YAML is left to the reader of policies."""
    try:
        data = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError):
        return False
    return data is None or (
        isinstance(data, dict) and "name" not in data and data.keys() <= Settings.model_fields.keys()
    )


def _stored(settings: Settings, digits: str = "") -> list[Made]:
    from streams.cli.opened import opened_store, running_process  # noqa: PLC0415  the store's client is slow to import
    from streams.store.fingerprints import StoredFingerprint  # noqa: PLC0415

    if process := running_process(settings):
        rows: list[Any] = process.get("/api/v1/fingerprints", fingerprint=digits, is_long=True)
        found = [StoredFingerprint.model_validate(row) for row in rows]
    else:
        with opened_store(settings, read_only=True) as store:
            found = store.fingerprints(digits)
    return [Made(source="stored verdicts", **row.model_dump()) for row in found]


def _print(record: Record, text: Text, *, as_json: bool) -> None:
    if as_json:
        json_line(record.model_dump(mode="json", exclude_none=True))
    else:
        stdout().print(text)


def _made_text(made: Made) -> Text:
    used = f", {moment(made.first_ts)} to {moment(made.last_ts)}" if made.first_ts else ""
    lines = [Text.assemble((plain(made.fingerprint), "bold"), plain(f"  {made.source}{used}"))]
    width = max((len(name) for name in made.parts), default=0)
    lines += [Text(plain(f"  {name:<{width}}  {value}")) for name, value in made.parts.items()]
    if not made.parts:
        lines.append(Text("  what it is made of was not stored", style="dim"))
    return Text("\n").join(lines)


def _comparison_text(found: Shown) -> Text:
    lines = [
        Text(plain(f"{side.fingerprint}  {side.source}"), style="bold")
        for side in (found.compared_with or found, found)
    ]
    if found.is_same_series:
        return Text("\n").join([*lines, Text("Nothing differs: one series.")])
    lines.append(Text("Different series: the second begins with a baseline of its own, because of"))
    for change in found.changed or ():
        lines.append(Text(plain(f"  {change.part}: {change.before or '(none)'} -> {change.after or '(none)'}")))
        lines.append(Text(f"      {change.means}", style="dim"))
    return Text("\n").join(lines)
