"""What ``groundwatch fingerprint`` prints: parts by name, and what a difference between two means."""

from pydantic import Field
from rich.text import Text

from schemas.base import Record, UtcDatetime
from schemas.errors import NotReached
from streams.cli.display import moment, plain

_MEANS = {
    "detector": "other weights, features or model: the same claim gets other scores",
    "layers": "other layers of detection took part",
    "judge": "another judge, prompt or form of its replies: claims in the band get other labels",
    "judge_rule": "other claims go to the judge",
    "consistency": "another way to draw or compare other answers of the model",
    "consistency_rule": "other answers are compared with others of the model",
    "splitter": "answers are split into other claims",
    "l0": "other structural checks: other claims are found unsupported by their structure alone",
    "phrases": "other phrase lists: other sentences count as claims, refusals or deeds",
}
_OF_THRESHOLD = "the same scores get other labels"


class Made(Record):
    """A fingerprint and its parts; ``source`` says where they come from, the times when stored verdicts have it.

    ``without`` are layers that the configuration asks for and that cannot be loaded here, with the reason.
    """

    source: str
    fingerprint: str
    parts: dict[str, str]
    without: dict[str, str] = Field(default_factory=dict)
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
    without: dict[str, str] = Field(default_factory=dict)
    first_ts: UtcDatetime | None = None
    last_ts: UtcDatetime | None = None
    compared_with: Made | None = None
    is_same_series: bool | None = None
    changed: tuple[ChangedPart, ...] | None = None


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


def made_text(made: Made) -> Text:
    """A fingerprint and its parts, a line each."""
    used = f", {moment(made.first_ts)} to {moment(made.last_ts)}" if made.first_ts else ""
    lines = [Text.assemble((plain(made.fingerprint), "bold"), plain(f"  {made.source}{used}"))]
    width = max((len(name) for name in made.parts), default=0)
    lines += [Text(plain(f"  {name:<{width}}  {value}")) for name, value in made.parts.items()]
    lines += [Text(plain(f"  without {layer}: {why}"), style="yellow") for layer, why in made.without.items()]
    if not made.parts:
        lines.append(Text("  what it is made of was not stored", style="dim"))
    return Text("\n").join(lines)


def comparison_text(found: Shown) -> Text:
    """Both sides, and what differs."""
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
