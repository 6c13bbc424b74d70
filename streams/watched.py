"""Puts a process under watch: what its loop looks at again and again, its probes and its watchdog."""

from streams.health.server import ProbeRoutes
from streams.health.watch import INTERNAL, LOOK_SECONDS, SOURCE, STORE_SECONDS, ServiceChecks, start_watching
from streams.runtime import Runtime
from streams.settings import Role


async def watch(runtime: Runtime) -> ProbeRoutes:
    """Start it all until the runtime's stack closes. Raises ConfigError when the address of the probes is in use."""
    settings = runtime.settings
    connections = {INTERNAL: runtime.internal}
    if Role.INGEST in settings.roles:
        connections[SOURCE] = runtime.source
    checks = ServiceChecks(runtime.health.process, runtime.open_store(), connections, is_embedded=settings.embedded)
    runtime.stack.push_async_callback(checks.stop)
    routes = await start_watching(runtime.health, settings.health, settings.data_dir, runtime.stack)
    runtime.every(LOOK_SECONDS, "look", checks.look)
    runtime.every(STORE_SECONDS, "store check", checks.ask_store)
    runtime.every(settings.health.lag_seconds, "broker check", checks.ask_brokers)
    return routes
