"""Which policy holds, as the log says it: for looking, so it also answers for times that the log may still change."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from sampling.policy_file import default_policy, policy_id_of
from sampling.policy_log import PolicyLog
from schemas.base import Record, UtcDatetime
from schemas.errors import ConfigError, NotReached
from schemas.policy import Overlay, PolicyDocument, PolicyRecord

_FOR_EVER = datetime.max.replace(tzinfo=UTC)


class InForce(Record):
    """A policy and since when: ``policy_id`` joins the ids of the document and of the overlays on top of it.

    ``effective_from`` is None for the first policy, which holds from the beginning. ``upcoming`` are the ids that take
    effect later, in order.
    """

    policy_id: str
    effective_from: UtcDatetime | None = None
    author: str = ""
    document: PolicyDocument
    overlays: tuple[tuple[str, Overlay], ...] = ()
    upcoming: tuple[str, ...] = ()


def in_force(records: Sequence[PolicyRecord], at: datetime) -> InForce:
    """What holds at a time; the default policy while nothing was published."""
    if not records:
        document = default_policy()
        return InForce(policy_id=policy_id_of(document, None), document=document, author="default")
    log = _log_of(records)
    effective = replace(log, complete_until=_FOR_EVER).at(at)
    later = [record for record in records if record.effective_from is not None and record.effective_from > at]
    found = _joined(log, effective.policy_id.split("+"))
    ordered = sorted(later, key=lambda record: record.effective_from or at)
    return found.model_copy(update={"upcoming": tuple(record.policy_id for record in ordered)})


def by_id(records: Sequence[PolicyRecord], policy_id: str) -> InForce:
    """A policy as traces name it: a document's id, with those of overlays joined by ``+``. Raises NotReached."""
    log = _log_of(records)
    ids = policy_id.split("+")
    unknown = [part for part in ids if part not in log.records]
    if unknown:
        raise NotReached(f"no policy {unknown[0]!r} in the log; `groundwatch policy log` lists the ids")
    return _joined(log, ids)


def _joined(log: PolicyLog, ids: Sequence[str]) -> InForce:
    parts = [log.records[part] for part in ids]
    overlays = tuple((part.policy_id, part.overlay) for part in parts if part.overlay is not None)
    base = next((part for part in parts if part.document is not None), None) or _below(log, parts[0])
    if base.document is None:
        raise NotReached(f"{ids[0]!r} lies over no document; `groundwatch policy log` lists the ids")
    name = "+".join(dict.fromkeys((base.policy_id, *(overlay_id for overlay_id, _ in overlays))))
    return InForce(
        policy_id=name,
        effective_from=max((part.effective_from for part in (base, *parts) if part.effective_from), default=None),
        author=base.author,
        document=base.document,
        overlays=overlays,
    )


def _below(log: PolicyLog, overlay: PolicyRecord) -> PolicyRecord:
    """The document that an overlay was put on."""
    at = overlay.effective_from or _FOR_EVER
    effective = replace(log, complete_until=_FOR_EVER).at(at)
    return log.records[effective.policy_id.split("+")[0]]


def _log_of(records: Iterable[PolicyRecord]) -> PolicyLog:
    log = PolicyLog()
    for record in records:
        try:
            log = log.add(record)
        except ConfigError:  # what the processes refuse decides nothing here either
            continue
    return log
