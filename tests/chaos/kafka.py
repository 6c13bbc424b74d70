"""Apache Kafka that a test may kill and start again on the same data, with listeners behind relays."""

import asyncio
import os
import signal
import subprocess
from pathlib import Path
from typing import Self

from tests.chaos.proxy import Proxy
from tests.integration.running import free_port_pair, wait_for_broker

SHORT_SESSIONS = "group.min.session.timeout.ms=1000"


class Kafka:
    """One broker while the ``with`` block runs; ``address`` goes straight to it.

    Workers read the product's topics over the relay ``theirs`` and use our own topics over ``ours``, so that either way
    can be cut as if there were two clusters. ``host`` is what the broker is called where workers look for it.
    """

    def __init__(self, home: Path, data_dir: Path, *properties: str, host: str = "127.0.0.1") -> None:
        self._host = host
        self.theirs, self.ours = Proxy(is_kafka=True), Proxy(is_kafka=True)
        self._port, self.theirs.target, self.ours.target = free_port_pair(), free_port_pair(), free_port_pair()
        self._command = [str(home / "broker"), str(self._port), str(data_dir), *self._listeners(), SHORT_SESSIONS]
        self._command += properties
        self._log = data_dir.parent / f"{data_dir.name}.log"
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        """Where the test itself reaches the broker, whatever the relays do."""
        return f"127.0.0.1:{self._port}"

    @property
    def addresses(self) -> dict[str, str]:
        """Where workers reach it."""
        return {
            "GROUNDWATCH_KAFKA__SOURCE__BOOTSTRAP_SERVERS": f"{self._host}:{self.theirs.port}",
            "GROUNDWATCH_KAFKA__INTERNAL__BOOTSTRAP_SERVERS": f"{self._host}:{self.ours.port}",
        }

    def cut(self) -> None:
        """No way to the broker for any worker."""
        self.theirs.cut()
        self.ours.cut()

    def heal(self) -> None:
        """Both ways are open."""
        self.theirs.heal()
        self.ours.heal()

    def _listeners(self) -> list[str]:
        behind = {
            "PLAINTEXT": self._port,
            "THEIRS": self.theirs.target,
            "OURS": self.ours.target,
            "CONTROLLER": self._port + 1,
        }
        told = {
            "PLAINTEXT": self.address,
            "THEIRS": f"{self._host}:{self.theirs.port}",
            "OURS": f"{self._host}:{self.ours.port}",
        }
        return [
            "listeners=" + ",".join(f"{name}://127.0.0.1:{port}" for name, port in behind.items()),
            "advertised.listeners=" + ",".join(f"{name}://{place}" for name, place in told.items()),
            "listener.security.protocol.map=" + ",".join(f"{name}:PLAINTEXT" for name in behind),
            "inter.broker.listener.name=PLAINTEXT",
        ]

    def __enter__(self) -> Self:
        self.theirs.__enter__()
        self.ours.__enter__()
        try:
            self.start()
            self.wait_up()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop(signal.SIGKILL)
        self.theirs.__exit__()
        self.ours.__exit__()

    def start(self) -> None:
        """Start it, or start it again."""
        environment = {**os.environ, "KAFKA_HEAP": "256m"}
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command, stdout=log, stderr=log, env=environment, start_new_session=True
            )

    def wait_up(self) -> None:
        """Wait until it answers."""
        asyncio.run(wait_for_broker(self.address))

    def stop(self, number: signal.Signals = signal.SIGTERM) -> None:
        """End it, in good order or at once, and wait until it has."""
        if self._process is not None:
            self._process.send_signal(number)
            self._process.wait(30)
            self._process = None
