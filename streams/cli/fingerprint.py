"""``groundwatch fingerprint``: what makes verdicts a series of their own, and what changed between two."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
import yaml
from rich.text import Text

from sampling.policy_file import default_policy
from schemas.base import Record
from schemas.errors import ConfigError, GroundwatchError, NotReached
from schemas.labels import RiskTier
from schemas.policy import PolicyDocument
from streams.cli.display import json_line, plain, stderr, stdout
from streams.cli.fingerprint_view import Made, compared, comparison_text, made_text
from streams.cli.options import AsJson, ConfigFile, settings_of
from streams.cli.policy_files import parsed
from streams.clock import utc_now
from streams.settings import Settings

_STORED = re.compile(r"[0-9a-f]{16}")
NOW = "now"
ANY = "*"


@dataclass(frozen=True, slots=True)
class Case:
    """Which answers the fingerprint is of: the first route of the policy that matches holds."""

    intent: str
    tier: RiskTier


def fingerprint(  # noqa: PLR0913, PLR0917  each option of the command is a parameter
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
    intent: Annotated[str, typer.Option(help="Of answers of this intent: routes of the policy may differ.")] = ANY,
    tier: Annotated[RiskTier, typer.Option(help="Of answers of this risk tier, likewise.")] = RiskTier.MEDIUM,
    as_json: AsJson = False,
) -> None:
    """Print the fingerprint that verdicts get now, part by part, or why two series differ.

    Verdicts of different fingerprints are different series: rates and alerts are never taken over several of them.
    Sampling, bars, critical rules and fallback texts are no parts. Models of the configuration are loaded for it, which
    takes seconds; a layer that cannot be is named.

    For example:

    - `groundwatch fingerprint --policy policy.yaml` would it start a new series?

    - `groundwatch fingerprint --compare now policy.yaml`

    - `groundwatch fingerprint --compare 929aa7dd3fa2fe81 5c0b6e2f4d17a930` why one line ends and another begins
    """
    settings = settings_of(config)
    case = Case(intent, tier)
    if any(compare):
        found = compared(_side(compare[0], settings, case), _side(compare[1], settings, case))
        _print(found, comparison_text(found), as_json=as_json)
    elif stored:
        for made in _stored(settings):
            _print(made, made_text(made), as_json=as_json)
    else:
        made = _of(parsed(policy), str(policy), settings, case) if policy else _now(settings, case)
        _print(made, made_text(made), as_json=as_json)


def _of(policy: PolicyDocument, source: str, settings: Settings, case: Case) -> Made:
    from detectors.claims import splitter_name  # noqa: PLC0415  loads word lists; --help must not wait
    from detectors.fingerprint import digest, route_parts  # noqa: PLC0415
    from detectors.routing import plan_of, route_of  # noqa: PLC0415
    from streams.cli.layered import detectors_of  # noqa: PLC0415
    from streams.completion import llm_splitter  # noqa: PLC0415

    model = llm_splitter(settings.verify)
    splitter = model.name if model else splitter_name(policy.claims.split)
    detector, above = detectors_of(settings)
    plan = plan_of(route_of(policy, case.intent, case.tier), above)
    parts = route_parts(detector.fingerprint, policy, plan, above, splitter)
    return Made(source=source, fingerprint=digest(parts), parts=parts, without=dict(above.notes))


def _now(settings: Settings, case: Case) -> Made:
    from streams.cli.policy import published  # noqa: PLC0415  the store's client is slow to import
    from streams.cli.policy_log import in_force  # noqa: PLC0415

    try:
        holds = in_force(published(settings), utc_now())
    except GroundwatchError as error:
        stderr().print(plain(f"The default policy is taken, since the one in force is not known: {error}"))
        return _of(default_policy(), "default policy", settings, case)
    return _of(holds.document, f"policy {holds.policy_id} in force", settings, case)


def _side(text: str, settings: Settings, case: Case) -> Made:
    if text == NOW:
        return _now(settings, case)
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
        return _now(settings_of(Path(text)), case).model_copy(update={"source": text})
    return _of(parsed(Path(text)), text, settings, case)


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
