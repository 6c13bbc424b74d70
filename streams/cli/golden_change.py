"""``groundwatch golden split|lock|relabel``: what changes a golden set that is there."""

import getpass
from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated, TypeVar

import typer

from detectors.golden import breaches, read_golden, read_lock, read_well_formed
from detectors.golden.editing import relabel_answer, relabel_claim
from detectors.golden.near import SIMILARITY
from detectors.golden.splitting import SHARES, split_cases
from schemas.errors import ConfigError
from schemas.golden import ANSWER_LABELS, Labelled, Split
from schemas.labels import ClaimLabel, Outcome
from streams.cli.display import json_line, stdout
from streams.cli.golden_files import Change, lock_holdout, save
from streams.cli.golden_options import Author, SetFile, Similarity, Unlock
from streams.cli.golden_view import Relabelled, SplitResult, case_text, describe_split
from streams.cli.options import AsJson, moment_of
from streams.clock import utc_now

W = TypeVar("W", bound=StrEnum)
_SHARES = ",".join(f"{split.value}={share:g}" for split, share in SHARES.items() if share)


def split(  # noqa: PLR0913, PLR0917  each option of the command is a parameter
    file: SetFile,
    seed: Annotated[str, typer.Option(help="Any text; the same one gives the same splits.")] = "golden",
    shares: Annotated[str, typer.Option(help="Shares that add up to 1; a split left out gets nothing.")] = _SHARES,
    similarity: Similarity = SIMILARITY,
    unlock: Unlock = "",
    author: Author = "",
    is_dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the numbers and write nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Assign every case to train, dev or holdout, and lock the hold-out.

    Cases of one source or trace, or with nearly the same question, stay together. A locked hold-out stays as it is, and
    only the other cases move; with --unlock it is drawn anew, and the reason is kept.

    For example:

    - `groundwatch golden split golden.jsonl --seed 7 --shares dev=0.6,holdout=0.4`

    - `groundwatch golden split golden.jsonl --dry-run --json`
    """
    golden, held = read_golden(file), read_lock(file)
    kept = frozenset(held.cases) if held and not unlock else frozenset()
    done = split_cases(golden, seed=seed, shares=_shares(shares), locked=kept, similarity=similarity)
    moved = tuple(new.case_id for old, new in zip(golden.cases, done.cases, strict=True) if old.split is not new.split)
    if not is_dry_run:
        change = Change(author or getpass.getuser(), utc_now(), unlock)
        save(file, done, change)
        lock_holdout(file, done, seed, change)
    result = SplitResult.of(done, moved, is_written=not is_dry_run)
    if as_json:
        json_line(result.model_dump(mode="json"))
    else:
        stdout().print(describe_split(result))


def lock(file: SetFile, unlock: Unlock = "", author: Author = "", as_json: AsJson = False) -> None:
    """Lock the hold-out as it is in the file; where it differs from an earlier lock, only with --unlock REASON.

    What is locked is refused by every command that changes cases, and what is tuned never reads it.

    For example:

    - `groundwatch golden lock golden.jsonl`

    - `groundwatch golden lock golden.jsonl --unlock "c-17 had the wrong label"`
    """
    golden = read_well_formed(file)
    change = Change(author or getpass.getuser(), utc_now(), unlock)
    broken = breaches(golden, read_lock(file))
    save(file, golden, change)
    lock_holdout(file, golden, "", change)
    result = SplitResult.of(golden, tuple(one.case_id for one in broken), is_written=True)
    if as_json:
        json_line(result.model_dump(mode="json"))
    else:
        stdout().print(describe_split(result))


def relabel(  # noqa: PLR0913, PLR0917  each option of the command is a parameter
    file: SetFile,
    case: Annotated[str, typer.Argument(help="Id of the case.")],
    label: Annotated[str, typer.Argument(help="New label: of the answer, or with --claim of that claim.")],
    claim: Annotated[
        int | None, typer.Option(min=0, help="Number of the claim, from 0; the answer without it.")
    ] = None,
    note: Annotated[str, typer.Option(help="Why; kept with the label.")] = "",
    at: Annotated[str, typer.Option(help="When the label was given: 2026-03-10T12:00Z, or 6h ago; else now.")] = "",
    unlock: Unlock = "",
    author: Author = "",
    as_json: AsJson = False,
) -> None:
    """Give an answer or a claim another label; the old one stays in the history, with its author and date.

    For example:

    - `groundwatch golden relabel golden.jsonl c-17 hallucinated --note "the fee is 3 EUR"`

    - `groundwatch golden relabel golden.jsonl c-17 contradicted --claim 2 --author ana`
    """
    golden, now = read_golden(file), utc_now()
    who = author or getpass.getuser()
    when = moment_of(at, now, "--at") or now
    if claim is None:
        answer = Labelled[Outcome](label=_word(label, ANSWER_LABELS), author=who, at=when, note=note)
        done = relabel_answer(golden, case, answer)
    else:
        of_claim = Labelled[ClaimLabel](label=_word(label, ClaimLabel), author=who, at=when, note=note)
        done = relabel_claim(golden, case, claim, of_claim)
    save(file, done, Change(who, now, unlock))
    changed = done.by_id()[case]
    if as_json:
        labels = changed.answer_labels if claim is None else changed.claims[claim].labels
        history = tuple(labels)
        json_line(Relabelled(case_id=case, claim=claim, version=done.version, labels=history).model_dump(mode="json"))
    else:
        stdout().print(case_text(changed))


def _shares(text: str) -> dict[Split, float]:
    found: dict[Split, float] = {}
    for part in text.split(","):
        name, _, share = part.partition("=")
        try:
            found[Split(name.strip())] = float(share)
        except ValueError as error:
            raise ConfigError(f"--shares {part!r}: write train, dev or holdout and a share, as in dev=0.7") from error
    return found


def _word(text: str, known: Iterable[W]) -> W:
    found = next((word for word in known if word.value == text), None)
    if found is None:
        raise ConfigError(f"label {text[:40]!r}: use one of {', '.join(sorted(word.value for word in known))}")
    return found
