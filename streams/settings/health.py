"""Settings of probes, metrics and watchdog."""

from pydantic import Field

from streams.settings.parts import Section


class Health(Section):
    """Probes (/healthz, /readyz), /metrics, and the watchdog; every process has them, the web server shows them too."""

    host: str = Field(
        "127.0.0.1",
        min_length=1,
        description="Address that probes and metrics listen on, without a token: they show counts and names of topics, "
        "never texts or trace ids. In a container 0.0.0.0, or the orchestrator cannot reach them.",
    )
    port: int = Field(
        0,
        ge=0,
        le=65535,
        description="TCP port of probes and metrics; 0 takes a free one, which `data_dir`/health/<pid>.json names. "
        "Taken by another program: exits with 69.",
    )
    watchdog: bool = Field(
        default=True,
        description="End a process (exit 79) that has work, lacks nothing and does not work. Off: such a process stays "
        "and only /healthz says so.",
    )
    stall_seconds: float = Field(
        300.0,
        ge=5,
        le=86_400,
        description="Seconds without a finished batch, with messages waiting and store and broker answering, after "
        "which an agent or timer is stalled; three times as long for joining the group. Too low: restarts during "
        "rebalances; too high: a stall is found late.",
    )
    batch_seconds: float = Field(
        1800.0,
        ge=10,
        le=86_400,
        description="Seconds that one batch may take (each waiting for store or broker begins them anew) before the "
        "process counts as stuck. Too low: long batches never end; the slowest judge decides.",
    )
    loop_seconds: float = Field(
        60.0,
        ge=5,
        le=3600,
        description="Seconds that the process may not answer at all. Too low: a machine out of breath is restarted.",
    )
    old_batch_seconds: float = Field(
        120.0,
        ge=1,
        le=86_400,
        description="Age of a batch in hand from which on /readyz says 503. Changes nothing else.",
    )
    lag_seconds: float = Field(
        15.0,
        ge=1,
        le=3600,
        description="Seconds between two questions to the brokers for end and committed offsets. Too low: load on "
        "them; too high: lag in /metrics is old and a stall is found later.",
    )
