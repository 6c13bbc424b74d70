"""Apache Kafka that a test may kill and start again on the same data, with a second listener behind a proxy."""

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
    """One broker while the ``with`` block runs; ``address`` goes straight to it, ``workers_address`` over ``proxy``."""

    def __init__(self, home: Path, data_dir: Path, *properties: str) -> None:
        self.proxy = Proxy(is_kafka=True)
        self._port, self.proxy.target = free_port_pair(), free_port_pair()
        self._command = [str(home / "broker"), str(self._port), str(data_dir), *self._listeners(), SHORT_SESSIONS]
        self._command += properties
        self._log = data_dir.parent / f"{data_dir.name}.log"
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        """Where the test itself reaches the broker, whatever the proxy does."""
        return f"127.0.0.1:{self._port}"

    @property
    def workers_address(self) -> str:
        """Where workers reach it."""
        return f"127.0.0.1:{self.proxy.port}"

    def _listeners(self) -> list[str]:
        own, controller, behind = self._port, self._port + 1, self.proxy.target
        names = f"PLAINTEXT://127.0.0.1:{own},WORKERS://127.0.0.1:{behind},CONTROLLER://127.0.0.1:{controller}"
        return [
            f"listeners={names}",
            f"advertised.listeners=PLAINTEXT://127.0.0.1:{own},WORKERS://127.0.0.1:{self.proxy.port}",
            "listener.security.protocol.map=PLAINTEXT:PLAINTEXT,WORKERS:PLAINTEXT,CONTROLLER:PLAINTEXT",
            "inter.broker.listener.name=PLAINTEXT",
        ]

    def __enter__(self) -> Self:
        self.proxy.__enter__()
        try:
            self.start()
            self.wait_up()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop(signal.SIGKILL)
        self.proxy.__exit__()

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
