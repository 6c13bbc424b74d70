"""How long a newcomer waits: a fresh clone, its installation, then the demo until its first verdict and its alert.

``python bench/startup.py [--runs 3] [--clone PATH] [--json FILE]``. Clones the last commit of this repository into a
folder with a space in its name, installs once as ``make run`` does, and runs ``groundwatch demo --no-live``; seconds
are those that the demo itself prints, counted from its start, and the whole command's beside them.
"""

import argparse
import json
import os
import re
import subprocess
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter

from benchkit.machine import load
from benchkit.table import table

ROOT = Path(__file__).resolve().parents[1]
PRINTED = re.compile(r"First verdict after (\d+) s, this alert after (\d+) s")
FIELDS = ("first verdict", "alert", "whole command")


def main() -> None:
    """Clone, install, run, print the medians."""
    arguments = parse()
    with tempfile.TemporaryDirectory(prefix="groundwatch startup ") as folder:
        clone = arguments.clone or Path(folder) / "clone"
        if not arguments.clone:
            run(["git", "clone", "--quiet", str(ROOT), str(clone)], Path(folder))
        began = perf_counter()
        run(["make", "--silent", ".venv/.runtime"], clone)
        installation = perf_counter() - began
        print(f"installed in {installation:.0f} s ({load()})", flush=True)
        runs = [demo(clone, number) for number in range(arguments.runs)]
    rows = [[name, median(one[name] for one in runs), *[one[name] for one in runs]] for name in FIELDS]
    print("\n" + table(["seconds", "median", *[f"run {n + 1}" for n in range(arguments.runs)]], rows))
    print(f"\ninstallation {installation:.0f} s; {load()}")
    if arguments.json:
        arguments.json.write_text(json.dumps({"installation": installation, "runs": runs}))


def parse() -> argparse.Namespace:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3, help="runs of the demo; medians are shown")
    parser.add_argument("--clone", type=Path, help="use this checkout instead of a fresh clone")
    parser.add_argument("--json", type=Path, help="also write all figures to this file")
    arguments = parser.parse_args()
    if arguments.runs < 1:
        parser.error("--runs must be 1 or more")
    return arguments


def demo(clone: Path, number: int) -> dict[str, float]:
    """Seconds of one demo run. Exits when no alert fired."""
    began = perf_counter()
    printed = run([str(clone / ".venv/bin/groundwatch"), "demo", "--no-live"], clone)
    whole = perf_counter() - began
    found = PRINTED.search(" ".join(printed.split()))
    if found is None:
        raise SystemExit(f"startup: the demo printed no alert:\n{printed[-2000:]}")
    verdict, alert = (float(text) for text in found.groups())
    print(f"run {number + 1}: first verdict {verdict:.0f} s, alert {alert:.0f} s ({load()})", flush=True)
    return dict(zip(FIELDS, (verdict, alert, whole), strict=True))


def run(command: list[str], folder: Path) -> str:
    """Standard output of a command, in an environment without our own settings; ends the benchmark when it fails."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(("GROUNDWATCH_", "VIRTUAL_ENV"))}
    environment = {**own, "GROUNDWATCH_WEB__PORT": "0"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"startup: {' '.join(command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    main()
