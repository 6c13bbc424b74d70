"""The check in a running process: its threads, its layers, and a server of its own where there is no web role."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from aiohttp import web

from detectors.layers import Layers
from schemas.labels import Layer
from streams.api.check import CHECK_ROUTES, PUBLIC_ROUTES, CheckRoutes
from streams.api.guard import Guard, Key
from streams.clock import utc_now
from streams.health.server import ProbeRoutes
from streams.inline.checker import Checker
from streams.inline.stages import Judges, warm_up
from streams.inline.upper import Upper
from streams.inline.workers import Workers
from streams.intake import annotating
from streams.layers import paid_judge
from streams.runtime import Runtime


async def check_routes(runtime: Runtime) -> CheckRoutes:
    """The routes of the check, with threads that end with the runtime."""
    settings = runtime.settings
    inline = settings.inline
    below = Workers("check", inline.threads)
    upper = Upper(Workers("check-models", inline.model_threads), Workers("check-endpoints", inline.endpoint_threads))
    for workers in (below, upper.models, upper.endpoints):
        runtime.stack.callback(workers.close)
    judges = Judges(
        detector=runtime.detector,
        above=allowed(await _layers(runtime), inline.layers),
        max_answer_bytes=settings.ingest.max_answer_bytes,
        annotate=await annotating(runtime),
    )
    await asyncio.to_thread(warm_up, judges, utc_now())
    checker = Checker(
        judges=judges,
        policy=runtime.policies.so_far,
        now=utc_now,
        below=below,
        upper=upper,
        max_in_flight=inline.max_in_flight,
    )
    runtime.health.checks = checker
    return CheckRoutes(checker, inline.max_body_bytes)


async def _layers(runtime: Runtime) -> Layers:
    """Those of the process, with a judge that writes nothing down: what it says quotes the request."""
    layers = await runtime.layers()
    if layers.judge is None:
        return layers
    return replace(layers, judge=paid_judge(runtime.settings.judge, runtime.spending, store=None))


def allowed(layers: Layers, names: Sequence[Layer]) -> Layers:
    """The layers that a check may use."""
    return replace(
        layers,
        models=layers.models if Layer.L2 in names else None,
        judge=layers.judge if Layer.L3 in names else None,
        consistency=layers.consistency if Layer.L4 in names else None,
    )


async def start_check(runtime: Runtime, probes: ProbeRoutes) -> str:
    """Serve the check alone, and say where; `web.check_token` lets in, and nothing else."""
    web_settings = runtime.settings.web
    keys = (Key(web_settings.check_token.get_secret_value(), CHECK_ROUTES),)
    guard = Guard(web_settings.host, token="", keys=keys, public=PUBLIC_ROUTES)
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
