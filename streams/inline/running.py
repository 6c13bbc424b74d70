"""The check in a running process: its threads, its layers, and a server of its own where there is no web role."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from aiohttp import web

from detectors.layers import Layers
from schemas.errors import ConfigError
from schemas.labels import Layer
from streams.api.check import CHECK_ROUTES, PUBLIC_ROUTES, CheckRoutes
from streams.api.guard import Guard, Key
from streams.clock import utc_now
from streams.health.server import ProbeRoutes
from streams.inline.checker import Checker
from streams.inline.stages import Judges, warm_up
from streams.inline.workers import Workers
from streams.intake import annotating
from streams.runtime import Runtime


async def check_routes(runtime: Runtime) -> CheckRoutes:
    """The routes of the check, with threads that end with the runtime."""
    settings = runtime.settings
    inline = settings.inline
    below, above = Workers("check", inline.threads), Workers("check-above", inline.layer_threads)
    for workers in (below, above):
        runtime.stack.callback(workers.close)
    judges = Judges(
        detector=runtime.detector,
        above=allowed(await runtime.layers(), inline.layers),
        max_answer_bytes=settings.ingest.max_answer_bytes,
        annotate=await annotating(runtime),
    )
    await asyncio.to_thread(warm_up, judges, utc_now())
    checker = Checker(
        judges=judges,
        policy=runtime.policies.so_far,
        now=utc_now,
        below=below,
        above=above,
        max_in_flight=inline.max_in_flight,
    )
    runtime.health.checks = checker
    return CheckRoutes(checker, inline.max_body_bytes)


def allowed(layers: Layers, names: Sequence[Layer]) -> Layers:
    """The layers that a check may use."""
    return replace(
        layers,
        models=layers.models if Layer.L2 in names else None,
        judge=layers.judge if Layer.L3 in names else None,
        consistency=layers.consistency if Layer.L4 in names else None,
    )


async def start_check(runtime: Runtime, probes: ProbeRoutes) -> str:
    """Serve the check alone, and say where. Raises ConfigError without `web.check_token`: nobody could get in."""
    settings = runtime.settings
    token = settings.web.check_token.get_secret_value()
    if not token:
        raise ConfigError(
            "web.check_token is empty, and the role check without the role web has no other; give 16 or more random "
            "characters"
        )
    guard = Guard(settings.web.host, token="", keys=(Key(token, CHECK_ROUTES),), public=PUBLIC_ROUTES)
    app = web.Application(middlewares=guard.middlewares())
    probes.add(app)
    (await check_routes(runtime)).add(app)
    return await served(runtime, app)


async def served(runtime: Runtime, app: web.Application) -> str:
    """Serve at `web.host` and `web.port` until the runtime's stack closes; the address."""
    settings = runtime.settings
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    runtime.stack.push_async_callback(runner.cleanup)
    await web.TCPSite(runner, settings.web.host, settings.web.port, shutdown_timeout=2.0).start()
    return f"http://{settings.web.host}:{runner.addresses[0][1]}"
