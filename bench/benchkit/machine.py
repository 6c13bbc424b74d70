"""How busy the machine is and what processes hold in memory, read from /proc, so that no figure stands alone."""

import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Memory:
    """Resident memory of a process in MiB, now and at its peak."""

    name: str
    resident_mib: float
    peak_mib: float


def load() -> str:
    """The load averages and the number of cores, for the line under every table."""
    one, five, fifteen = os.getloadavg()
    return f"load {one:.1f} / {five:.1f} / {fifteen:.1f} on {os.cpu_count()} cores"


def memory(pid: int) -> Memory:
    """Memory of one process. Raises OSError when it is gone."""
    text = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    fields = dict(line.split(":", 1) for line in text.splitlines() if ":" in line)
    resident, peak = (int(fields[key].split()[0]) / 1024 for key in ("VmRSS", "VmHWM"))
    return Memory(fields["Name"].strip(), resident, peak)


def cpu_seconds(pid: int) -> float:
    """Processor time of one process since its start, all threads. Raises OSError when it is gone."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def children(pid: int) -> list[int]:
    """Process ids of the direct children."""
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        found += [int(child) for child in (task / "children").read_text(encoding="utf-8").split()]
    return found
