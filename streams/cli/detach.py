"""``groundwatch detach``: leave the clusters as if Groundwatch had never been there."""

from typing import Annotated

import typer

from schemas.base import Record
from schemas.errors import NotReached
from streams.cli.detach_left import Left
from streams.cli.display import json_line, plain, stderr, stdout
from streams.cli.exits import ExitCode
from streams.cli.options import AsJson, ConfigFile, settings_of
from streams.run_file import find_running
from streams.settings import Settings


class FoundGroup(Record):
    """A consumer group of ours; ``members`` are client ids with their hosts."""

    cluster: str
    name: str
    members: tuple[str, ...] = ()


class Detached(Record):
    """What was found and, unless ``is_dry_run``, removed; ``left`` is what our user may not remove or not see.

    ``remedies`` are lines for somebody who may.
    """

    groups: tuple[FoundGroup, ...] = ()
    topics: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    is_dry_run: bool = False
    left: tuple[Left, ...] = ()
    remedies: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing that can be removed."""
        return not (self.groups or self.topics or self.tables)


def detach(  # noqa: PLR0913, PLR0917  each option of the command is a parameter
    config: ConfigFile = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only list what would be removed.")] = False,
    keeps_topics: Annotated[
        bool, typer.Option("--keep-topics", help="Leave the gw.* topics: policy, dead letters, open work.")
    ] = False,
    with_store: Annotated[
        bool, typer.Option("--store", help="Also drop our tables: every trace, verdict, alert and review.")
    ] = False,
    is_sure: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: AsJson = False,
) -> None:
    """Remove our consumer groups from both clusters and our topics from ours; source topics stay as they are.

    Refused while a process is in one of the groups, naming it. What is left afterwards: the data folder of each
    machine (salt, addresses), users and rights that were made for us, and the store unless --store is given. With
    --keep-topics and the salt a later start goes on with the same policy; where it begins to read is `kafka.source`.

    What our user may not remove, or not see, is named together with the rights that are missing; the rest is removed,
    and the exit code is 1.

    For example:

    - `groundwatch detach --dry-run`

    - `groundwatch detach --yes`

    - `groundwatch detach --store` nothing at all is left
    """
    settings = settings_of(config)
    _refuse_beside_a_process(settings)
    from streams.cli.detach_work import look, remove  # noqa: PLC0415  Kafka and store clients are slow to import

    if settings.embedded and not with_store:
        raise NotReached(
            "an embedded broker ends with its process and leaves nothing; for the store give --store, or remove "
            f"{settings.data_dir}"
        )
    plan = look(settings, keeps_topics=keeps_topics, with_store=with_store)
    _refuse_with_members(plan)
    if not dry_run and not plan.is_empty:
        if not is_sure:
            stderr().print(plain("\n".join(described(plan))))
            typer.confirm("Remove all of this?", abort=True, err=True)
        plan = remove(settings, plan)
    done = plan.model_copy(update={"is_dry_run": dry_run})
    if as_json:
        json_line(done.model_dump(mode="json"))
    else:
        stdout().print(plain("\n".join(described(done))))
    if done.left:
        raise typer.Exit(ExitCode.FOUND_FAULTS)


def described(plan: Detached) -> list[str]:
    """A line a thing, then what is left and what helps."""
    if plan.is_empty and not plan.left:
        return ["Nothing of ours is there."]
    groups = [f"group {group.name} on {group.cluster}" for group in plan.groups]
    topics = [f"topic {name}" for name in plan.topics]
    tables = [f"table {name}" for name in plan.tables]
    left = [f"LEFT  {one.kind} {one.name} on {one.cluster}: {one.why}" for one in plan.left]
    help_lines = ["Give our user these rights and detach again, or remove by hand what is left:", *plan.remedies]
    return [*groups, *topics, *tables, *left, *(help_lines if left else ())]


def _refuse_with_members(plan: Detached) -> None:
    busy = [f"{group.name}: {member}" for group in plan.groups for member in group.members]
    if busy:
        raise NotReached(
            f"still at work: {'; '.join(busy[:10])}; stop these processes (a killed one is a member until its session "
            "has ended, 15 s), then detach again"
        )


def _refuse_beside_a_process(settings: Settings) -> None:
    running = find_running(settings.data_dir)
    if running is not None:
        raise NotReached(f"a process runs on {settings.data_dir} (pid {running.pid}); stop it, then detach")
