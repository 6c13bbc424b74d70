"""The address and token of a running process, in its data folder and readable by its owner only."""

import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path

from schemas.errors import NotReached

RUN_FILE = "run.json"
DEMO_FOLDER = "demo"
"""Below the data folder: the demo's own data folder, where its address file lies."""


@dataclass(frozen=True, slots=True)
class RunFile:
    """How to reach a running process; ``bootstrap_servers`` is its embedded broker, empty when it has none."""

    url: str
    token: str = field(repr=False)
    pid: int
    bootstrap_servers: str = ""


def write_run_file(data_dir: Path, run_file: RunFile) -> Path:
    """Publish the address of this process with mode 0600; readers never see half a file."""
    path = data_dir / RUN_FILE
    data_dir.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(f".{run_file.pid}")
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        json.dump(asdict(run_file), file)
    draft.replace(path)
    return path


def remove_run_file(data_dir: Path, pid: int) -> None:
    """Withdraw the address, unless another process has published its own since."""
    found = _read(data_dir / RUN_FILE)
    if found is not None and found.pid == pid:
        (data_dir / RUN_FILE).unlink(missing_ok=True)


def find_running(data_dir: Path) -> RunFile | None:
    """The process on this data folder, else a demo below it; None when neither runs.

    A file that a killed process left behind counts as none.
    """
    for folder in (data_dir, data_dir / DEMO_FOLDER):
        found = _read(folder / RUN_FILE)
        if found is not None and _is_alive(found.pid):
            return found
    return None


def embedded_servers(data_dir: Path, fix: str) -> str:
    """Where the embedded broker of the running process listens. Raises NotReached, which ends with ``fix``."""
    running = find_running(data_dir)
    if running is None or not running.bootstrap_servers:
        raise NotReached(f"no running process with an embedded broker in {data_dir}; {fix}")
    return running.bootstrap_servers


def _read(path: Path) -> RunFile | None:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return RunFile(found["url"], found["token"], int(found["pid"]), found.get("bootstrap_servers", ""))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
