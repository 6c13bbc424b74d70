"""The work behind ``groundwatch models``."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import perf_counter

from detectors.evidence import load_evidence_detector
from detectors.layers import StackedDetector
from schemas.claim import CheckItem, Claim
from schemas.errors import ConfigError, GroundwatchError
from schemas.trace import Passage
from streams.cli.models_view import CheckedModel, PulledModel, ShownModel
from streams.models.catalogue import catalogue
from streams.models.folder import Found, State, look_at, look_into, models_in
from streams.models.hub import Hub
from streams.models.loading import load_folder, load_own, runs_on
from streams.models.orders import order_of
from streams.models.own import own_state
from streams.models.pull import Pulled, pull_from_folder, pull_from_hub
from streams.settings import Settings
from streams.settings.models import AUTO, OWN, WORDS

_PASSAGE = (
    "The ferry to the island leaves every two hours from nine in the morning until seven in the evening, and every "
    "hour in July and August. A crossing takes 35 minutes. A ticket costs 12 euros, for children under twelve 6 euros, "
    "and bicycles travel free of charge. Dogs may come along on a lead. The last boat back leaves the island at eight."
)
_CLAIMS = ("A crossing takes 35 minutes.", "A ticket costs 14 euros.", "Dogs may not come along.", "Bicycles are free.")
_ITEMS = 8


def shown_models(settings: Settings) -> list[ShownModel]:
    """Ours, those of the catalogue, those in the folder of models, and the folder that the settings name."""
    root = settings.models.folder(settings.data_dir)
    known = catalogue()
    others = [name for name in models_in(root) if name not in known and name not in WORDS]
    found = [look_at(root, name) for name in (*known, *others)]
    if settings.models.is_path:
        folder = Path(settings.models.use)
        found.append(look_into(folder, settings.models.use))
    return [_shown_own(settings), *(_shown(one, settings) for one in found)]


def _shown_own(settings: Settings) -> ShownModel:
    state, faults = own_state()
    return ShownModel(
        name=OWN,
        state=state.value,
        is_used=settings.models.use == OWN or (settings.models.use == AUTO and state is State.PRESENT),
        source="package",
        layout="own",
        licence="Apache-2.0",
        about="Our own small cross-encoder, stacked on the evidence detector; its base comes with the extra `models`.",
        faults=faults,
    )


def _shown(found: Found, settings: Settings) -> ShownModel:
    entry, manifest = catalogue().get(found.name), found.manifest
    return ShownModel(
        name=found.name,
        state=found.state.value,
        is_used=found.name == settings.models.use,
        source="catalogue" if entry else "folder",
        layout=manifest.layout if manifest else entry.layout if entry else "",
        licence=manifest.licence if manifest else entry.licence if entry else "",
        hub_id=manifest.hub_id if manifest else entry.hub_id if entry else "",
        revision=manifest.revision if manifest else entry.revision if entry else "",
        folder=str(found.folder),
        about=entry.about if entry else "",
        faults=found.faults,
    )


def pull_model(  # noqa: PLR0913  the options of the command
    settings: Settings, what: str, *, name: str, revision: str, source: Path | None, replaces: bool
) -> PulledModel:
    """Get a model. Raises ConfigError, NotReached, HubUnavailable: see ``streams.models.pull``."""
    root = settings.models.folder(settings.data_dir)
    order = order_of(catalogue(), what, name, revision, is_copy=source is not None)
    if source is None and settings.models.offline:
        raise ConfigError(
            f"models.offline is set, so no hub is asked for {what}; copy its folder from a machine that has it and "
            "give it with --from"
        )
    try:
        root.mkdir(parents=True, exist_ok=True)
        if source is not None:
            return _pulled(pull_from_folder(order, root, source, replaces=replaces))
        return _pulled(pull_from_hub(order, root, Hub(settings.models.hub), replaces=replaces))
    except OSError as error:
        raise ConfigError(
            f"{error.filename or root}: {error.strerror}; make room or correct models.dir and its rights"
        ) from error


def _pulled(pulled: Pulled) -> PulledModel:
    manifest = pulled.manifest
    return PulledModel(
        name=manifest.name,
        folder=str(pulled.folder),
        layout=manifest.layout,
        hub_id=manifest.hub_id,
        revision=manifest.revision,
        files=len(manifest.files),
        bytes=sum(one.bytes for one in manifest.files.values()),
        is_new=pulled.is_new,
        left=pulled.left,
    )


def check_models(settings: Settings, names: Sequence[str], *, loads: bool) -> Iterator[CheckedModel]:
    """Check these models, or all that are there, one after the other. Raises ConfigError for a name that is none."""
    chosen = names or [model.name for model in shown_models(settings) if model.state != State.ABSENT.value]
    for name in chosen:
        yield _checked_own(settings, loads=loads) if name == OWN else _checked(settings, name, loads=loads)


def _checked_own(settings: Settings, *, loads: bool) -> CheckedModel:
    state, faults = own_state()
    checked = CheckedModel(name=OWN, state=state.value, layout="own", faults=faults)
    if not loads:
        return checked
    return _tried(checked, settings, lambda: load_own(settings.models, load_evidence_detector()))


def _checked(settings: Settings, name: str, *, loads: bool) -> CheckedModel:
    root = settings.models.folder(settings.data_dir)
    found = look_into(Path(name), name, with_sums=True) if "/" in name else look_at(root, name, with_sums=True)
    layout = found.manifest.layout if found.manifest else ""
    faults = found.faults
    if found.state is State.ABSENT:
        faults = (f"is not there ({found.folder}); groundwatch models pull {name}",)
    checked = CheckedModel(name=name, state=found.state.value, layout=layout, faults=faults)
    if faults or not loads:
        return checked
    return _tried(checked, settings, lambda: load_folder(found, settings.models))


def _tried(checked: CheckedModel, settings: Settings, load: Callable[[], StackedDetector]) -> CheckedModel:
    """Load a model and let it judge; what does not work is a fault."""
    if checked.faults:
        return checked
    began = perf_counter()
    try:
        model = load()
    except (GroundwatchError, ImportError) as error:
        return checked.model_copy(update={"faults": (f"does not load: {error}",)})
    loaded = perf_counter()
    items = _items()
    judged = model.judge(items)
    seconds = perf_counter() - loaded
    wrong = {one.error.value for claims in judged for one in claims if one.error is not None}
    return checked.model_copy(
        update={
            "fingerprint": model.fingerprint,
            "runs_on": runs_on(settings.models),
            "load_seconds": round(loaded - began, 3),
            "claims_per_second": round(sum(len(item.claims) for item in items) / max(seconds, 1e-6), 1),
            "faults": tuple(f"claims come out as {error}" for error in sorted(wrong)),
        }
    )


def _items() -> list[CheckItem]:
    """Answers that are alike but not the same, so that nothing is remembered from one to the next."""
    return [
        CheckItem(
            "How do I get to the island?",
            (Passage(text=f"Timetable {number}. {_PASSAGE}"),),
            " ".join(_CLAIMS),
            [Claim(index=n, start=0, end=len(text), text=text) for n, text in enumerate(_CLAIMS)],
        )
        for number in range(_ITEMS)
    ]
