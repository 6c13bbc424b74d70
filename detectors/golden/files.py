"""Reading a golden set whole, with its lock: what every command that measures or tunes begins with."""

from pathlib import Path

from pydantic import ValidationError

from detectors.golden.lock import HoldoutLock, breaches, lock_path
from detectors.golden.reading import MAX_SHOWN, read_well_formed
from detectors.golden.sets import GoldenSet
from schemas.codec import invalid_message
from schemas.errors import ConfigError
from schemas.golden import Split


def read_golden(path: Path) -> GoldenSet:
    """The set in a file, hold-out included, for measuring.

    Raises ConfigError for a file that cannot be read, for every line that is no case (line, field, fix), and when the
    hold-out is not as it was locked.
    """
    golden = read_well_formed(path)
    broken = breaches(golden, read_lock(path))
    if broken:
        names = ", ".join(f"{breach.case_id} ({breach.kind})" for breach in broken[:MAX_SHOWN])
        raise ConfigError(
            f"{path}: the hold-out is not as it was locked: {names}; bring back the locked content, or accept the "
            f"change with `groundwatch golden lock {path} --unlock REASON`"
        )
    return golden


def read_for_tuning(path: Path) -> GoldenSet:
    """The set without its hold-out, for choosing thresholds or anything else that is fitted.

    Raises what ``read_golden`` raises, and ConfigError when nothing but the hold-out is there.
    """
    golden = read_golden(path)
    tunable = golden.part(Split.TRAIN, Split.DEV)
    if golden.cases and not tunable.cases:
        raise ConfigError(
            f"{path} has only hold-out cases, and nothing is ever tuned on those; add cases with split train or dev"
        )
    return tunable


def read_lock(path: Path) -> HoldoutLock | None:
    """The lock beside a set, None when there is none. Raises ConfigError for one that cannot be read."""
    place = lock_path(path)
    try:
        return HoldoutLock.model_validate_json(place.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigError(f"cannot read {place}: {error.strerror}; it locks the hold-out of {path}") from error
    except ValidationError as error:
        detail = invalid_message(error).detail
        raise ConfigError(f"{place}: {detail}; bring the lock back from your version control") from error
