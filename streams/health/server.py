"""``/healthz``, ``/readyz`` and ``/metrics``: no token, and therefore no text of users and no id of a trace."""

import json
import os
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

from aiohttp import web
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder

from schemas.errors import ConfigError
from streams.health.process import Process
from streams.health.watchdog import loop_stall, stall_of

FOLDER = "health"
"""Below the data folder: one file a process that names its address, for processes with a port of their own choice."""


@dataclass(frozen=True, slots=True)
class ProbeRoutes:
    """The three routes over what a process knows of itself."""

    process: Process
    registry: CollectorRegistry

    def add(self, app: web.Application) -> None:
        """Add the routes."""
        app.router.add_get("/healthz", self.healthz)
        app.router.add_get("/readyz", self.readyz)
        app.router.add_get("/metrics", self.metrics)

    async def healthz(self, _request: web.Request) -> web.Response:
        """200 while the loop answers, no app has crashed and the watchdog finds nothing stuck."""
        process = self.process
        look = process.look
        now = process.clock()
        stall = loop_stall(now - look.at, now - process.awake_since, process.limits)
        stall = stall or stall_of(look.signs, process.limits)
        crashed = [member.role for member in look.signs.members if member.has_crashed]
        if stall is not None:
            return _answer(503, {"status": "stalled", "reason": stall.reason, "part": stall.part, "crashed": crashed})
        return _answer(503 if crashed else 200, {"status": "crashed" if crashed else "ok", "crashed": crashed})

    async def readyz(self, _request: web.Request) -> web.Response:
        """200 once every role is at work; 503 names what waits, for what, and for how many seconds.

        ``layers`` are those of detection that are loaded, ``without`` those that were asked for and are not there.
        """
        look, now = self.process.look, self.process.clock()
        waiting = [
            {"part": one.part, "waits_for": one.why, "seconds": round(now - began, 1)}
            for one, began in look.waiting.items()
        ]
        roles = {
            member.role: {"partitions": member.partitions, "is_standby": member.is_standby}
            for member in look.signs.members
        }
        body: dict[str, object] = {"status": "waiting" if waiting else "ready", "waiting_for": waiting, "roles": roles}
        if self.process.layers:
            body |= {"layers": list(self.process.layers), "without": list(self.process.without)}
        if self.process.lifeline.stop_reason:
            body["reason"] = self.process.lifeline.stop_reason
        return _answer(503 if waiting else 200, body)

    async def metrics(self, request: web.Request) -> web.Response:
        """Everything of docs/operations.md in the format that the scraper asks for."""
        encoder, content_type = choose_encoder(request.headers.get("Accept", ""))
        return web.Response(body=encoder(self.registry), headers={"Content-Type": content_type})


def _answer(status: int, body: object) -> web.Response:
    return web.json_response(body, status=status, headers={"Cache-Control": "no-store"})


async def serve_probes(routes: ProbeRoutes, host: str, port: int, data_dir: Path, stack: AsyncExitStack) -> str:
    """Serve the routes until ``stack`` closes, write the address file, and say the address.

    Raises ConfigError when the address cannot be listened on.
    """
    app = web.Application()
    routes.add(app)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    stack.push_async_callback(runner.cleanup)
    try:
        await web.TCPSite(runner, host, port).start()
    except OSError as error:
        raise ConfigError(
            f"health.host and health.port: {host}:{port} cannot be listened on ({error.strerror}); choose others, or 0"
        ) from error
    url = f"http://{host}:{runner.addresses[0][1]}"
    path = write_address(data_dir, url, os.getpid())
    stack.callback(path.unlink, missing_ok=True)
    return url


def write_address(data_dir: Path, url: str, pid: int) -> Path:
    """Publish where this process's probes are, and clear away the files of processes that are gone."""
    folder = data_dir / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.json"):
        if old.stem.isdecimal() and not _is_alive(int(old.stem)):
            old.unlink(missing_ok=True)
    path = folder / f"{pid}.json"
    draft = path.with_suffix(".new")
    draft.write_text(json.dumps({"url": url, "pid": pid}), encoding="utf-8")
    draft.replace(path)
    return path


def _is_alive(pid: int) -> bool:
    with suppress(PermissionError):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
    return True
