"""``groundwatch traces``: find answers, and see one in full with what was concluded and why."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from detectors.delivery import delivered_text, fallbacks_of
from schemas.errors import NotReached
from schemas.labels import FailureLabel, Outcome, RiskTier
from schemas.policy import PolicyRecord
from streams.cli import completions
from streams.cli.display import columns, json_line, moment, plain, stdout, styled
from streams.cli.options import AsJson, ConfigFile, Since, Tenant, Until, moment_of, settings_of
from streams.cli.policy import published
from streams.cli.policy_log import by_id
from streams.clock import utc_now
from streams.settings import Settings

if TYPE_CHECKING:
    from streams.store import FoundTrace, ListFilter, StoredTrace, Tenants, TraceSummary

app = typer.Typer(no_args_is_help=True, help="Find answers, and see one in full: claims, evidence, why, draw, timings.")
QUESTION_CHARACTERS = 70


@app.command("list")
def list_traces(  # noqa: PLR0913, PLR0917  each option of the command is a parameter
    config: ConfigFile = None,
    intent: Annotated[str | None, typer.Option(autocompletion=completions.intents, help="Only this intent.")] = None,
    tier: Annotated[RiskTier | None, typer.Option(help="Only this risk tier.")] = None,
    outcome: Annotated[Outcome | None, typer.Option(help="Only this outcome of the newest verdict.")] = None,
    failure: Annotated[FailureLabel | None, typer.Option(help="Only with this failure.")] = None,
    since: Since = "",
    until: Until = "",
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Newest so many.")] = 20,
    has_feedback: Annotated[
        bool, typer.Option("--has-feedback", help="Only what somebody said something about.")
    ] = False,
    tenant: Tenant = None,
    as_json: AsJson = False,
) -> None:
    """List traces, newest first.

    For example:

    - `groundwatch traces list --outcome hallucinated --since 6h`

    - `groundwatch traces list --has-feedback --since 7d` what users and foreign evaluators said

    - `groundwatch traces list --intent billing.refund --tier high --json | jq -r .trace_id`
    """
    from streams.store import ListFilter  # noqa: PLC0415  the store's client is slow to import

    now = utc_now()
    since_at, until_at = moment_of(since, now, "--since"), moment_of(until, now, "--until")
    wanted = ListFilter(intent, tier, outcome, failure, since_at, until_at, limit, has_feedback)
    found = read_list(settings_of(config), wanted, tenant or [])
    if as_json:
        for row in found:
            json_line(row.model_dump(mode="json"))
    else:
        stdout().print(
            _table(found, shows_feedback=has_feedback) if found else "No traces. Widen --since, or leave out a filter."
        )


@app.command("show")
def show(
    trace_id: Annotated[str, typer.Argument(help="Id, or its beginning; `traces list` and the page show ids.")],
    config: ConfigFile = None,
    tenant: Tenant = None,
    as_json: AsJson = False,
) -> None:
    """Show one trace: question, answer with its claims in colour, evidence, findings, draw, versions, timings.

    For example:

    - `groundwatch traces show demo-9999c6`

    - `groundwatch traces show demo-9999c6 --json | jq .verdicts[0].findings`
    """
    from streams.cli.trace_view import describe, shown_trace  # noqa: PLC0415  as above

    settings = settings_of(config)
    stored = read_trace(settings, trace_id, tenant or [])
    delivered = would_deliver(stored, published(settings))
    if as_json:
        json_line(shown_trace(stored, delivered).model_dump(mode="json"))
    else:
        stdout().print(describe(stored, delivered))


def read_list(settings: Settings, wanted: "ListFilter", tenants: list[str]) -> "list[TraceSummary]":
    """Summaries, newest first. Raises NotReached, StoreUnavailable."""
    from streams.cli.opened import opened_store, running_process  # noqa: PLC0415  as above
    from streams.store import TraceSummary  # noqa: PLC0415

    if process := running_process(settings):
        times = {"since": wanted.since, "until": wanted.until}
        words = {"intent": wanted.intent, "tier": wanted.tier, "outcome": wanted.outcome, "failure": wanted.failure}
        asked = {name: str(value) for name, value in words.items() if value is not None}
        asked |= {"has_feedback": "true"} if wanted.has_feedback else {}
        asked |= {name: value.isoformat() for name, value in times.items() if value is not None}
        rows = process.get("/api/v1/traces", is_long=True, **asked, limit=wanted.limit, **_tenant_query(tenants))
        return [TraceSummary.model_validate(row) for row in rows]
    with opened_store(settings, read_only=True) as store:
        return store.list_traces(wanted, tenants=_tenants(tenants))


def read_trace(settings: Settings, text: str, tenants: list[str]) -> "StoredTrace":
    """The trace of that id or beginning. Raises NotReached when it is none or several, and StoreUnavailable."""
    found = _find(settings, text, tenants)
    if found.trace is not None:
        return found.trace
    if found.candidates:
        raise NotReached(f"several traces begin with {text!r}: {', '.join(found.candidates)}; give more of the id")
    raise NotReached(
        f"no trace {text!r}; `groundwatch traces list` shows ids (choose with --intent, --tier, --outcome, --failure, "
        "--since), and traces older than store.retention_days are gone"
    )


def would_deliver(stored: "StoredTrace", records: Sequence[PolicyRecord]) -> str | None:
    """What the user would have got by the newest verdict under the policy that drew the trace; None without either."""
    trace = stored.drawn.trace
    if not stored.verdicts or trace.answer is None:
        return None
    try:
        policy = by_id(records, stored.drawn.draw.policy_id).document
    except NotReached:
        return None
    newest = stored.verdicts[0]
    return delivered_text(newest.containment, newest.claims, trace.answer, fallbacks_of(policy, trace.intent))


def _find(settings: Settings, text: str, tenants: list[str]) -> "FoundTrace":
    from streams.cli.opened import opened_store, running_process  # noqa: PLC0415  as above
    from streams.store import FoundTrace  # noqa: PLC0415

    if process := running_process(settings):
        body = process.get("/api/v1/traces/find", is_long=True, id=text, **_tenant_query(tenants))
        return FoundTrace.model_validate(body)
    with opened_store(settings, read_only=True) as store:
        return store.find_trace(text, tenants=_tenants(tenants))


def _tenants(names: list[str]) -> "Tenants":
    from streams.store import ALL_TENANTS  # noqa: PLC0415  as above

    return frozenset(names) if names else ALL_TENANTS


def _tenant_query(names: list[str]) -> dict[str, str | int | list[str]]:
    return {"tenant": names} if names else {"tenants": "all"}


def _table(rows: "list[TraceSummary]", *, shows_feedback: bool) -> Table:
    last = "feedback" if shows_feedback else "question"
    table = columns("time", "id", "slice", "outcome", "failures", last)
    table.columns[1].no_wrap = True  # it is copied into `traces show`
    for row in rows:
        text = plain((row.feedback if shows_feedback else row.question).replace("\n", " "))
        shown = text[:QUESTION_CHARACTERS] + ("…" if len(text) > QUESTION_CHARACTERS else "")
        outcome = row.outcome or ("pending" if row.is_drawn else "not drawn")
        table.add_row(
            moment(row.ts),
            Text(plain(row.trace_id)),
            Text(plain(f"{row.intent}/{row.tier}")),
            styled(outcome) if row.outcome else Text(outcome, style="dim"),
            Text(", ".join(row.failures)),
            Text(shown),
        )
    return table
