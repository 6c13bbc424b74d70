"""The server of the check benchmark: the routes of the role check over chosen layers, in a process of its own."""

import asyncio
import hashlib
import json
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import structlog
from aiohttp import web

from detectors.breaker import Breaker, BreakerRule
from detectors.completion import Ask, Choice, Reply
from detectors.evidence import load_evidence_detector
from detectors.judge import Counts, JudgePrompt, Limits, Line, LlmJudge
from detectors.layers import Layers, Prices, StackedDetector
from sampling.effective import compose
from schemas.errors import ConfigError
from schemas.policy import PolicyDocument
from schemas.routes import InlineRule, JudgeRule, Route
from schemas.verdict import ClaimJudgement
from streams.api.check import CheckRoutes
from streams.clock import utc_now
from streams.inline.checker import Checker
from streams.inline.stages import Judges, warm_up
from streams.inline.upper import Upper
from streams.inline.workers import Workers
from streams.settings import Inline
from streams.spend import OpenPurse

L1, L2, L3 = "L0+L1", "L0+L1+L2", "L0+L1+L2+L3"
SETS = (L1, L2, L3)


@dataclass(frozen=True, slots=True)
class Scripted:
    """An endpoint that takes a fixed time and calls every claim supported; HTTP is left out."""

    seconds: float
    model: str = "scripted"

    def ask(self, ask: Ask) -> Reply:
        """After that time, or a timeout."""
        time.sleep(self.seconds)
        texts = [message["content"] for message in ask.messages if message["role"] == "user"]
        claim = json.loads(next(text for text in reversed(texts) if text.startswith("{")))["claim"]
        said = {"claim": claim, "evidence": ["P1"], "reason": "P1.", "label": "supported", "confidence": 0.9}
        return Reply((Choice(json.dumps(said)),), 500, 60)


@dataclass(frozen=True, slots=True)
class Forgetful:
    """Keeps nothing, since the answers of a benchmark recur."""

    def get(self, keys: Sequence[str]) -> Mapping[str, ClaimJudgement]:
        """Nothing is known."""
        del keys
        return {}

    def put(self, judgements: Mapping[str, ClaimJudgement]) -> None:
        """Nothing is kept."""


def serve(layers: str, within_ms: int, judge_ms: int, address: Path) -> None:
    """Until the process is ended; the address is written to a file once it listens."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(40))
    asyncio.run(_serve(layers, within_ms, judge_ms, address))


async def _serve(layers: str, within_ms: int, judge_ms: int, address: Path) -> None:
    inline = Inline()
    judges = Judges(load_evidence_detector(), _layers(layers, judge_ms), 1_000_000, lambda trace: trace)
    warm_up(judges, utc_now())
    rule = JudgeRule() if layers == L3 else None
    policy = compose(
        "bench", PolicyDocument(name="bench", routes=(Route(judge=rule, inline=InlineRule(within_ms=within_ms)),))
    )
    checker = Checker(
        judges=judges,
        policy=lambda _ts: policy,
        now=utc_now,
        below=Workers("check", inline.threads),
        upper=Upper(Workers("models", inline.model_threads), Workers("endpoints", inline.endpoint_threads)),
        max_in_flight=inline.max_in_flight,
    )
    app = web.Application()
    CheckRoutes(checker, inline.max_body_bytes).add(app)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    await asyncio.to_thread(address.write_text, f"http://127.0.0.1:{runner.addresses[0][1]}")
    await asyncio.Event().wait()


def _layers(layers: str, judge_ms: int) -> Layers:
    models = None if layers == L1 else model()[0]
    return Layers(models=models, judge=_judge(judge_ms / 1000) if layers == L3 else None)


def _judge(seconds: float) -> LlmJudge:
    line = Line(
        completion=Scripted(seconds),
        purse=OpenPurse(),
        breaker=Breaker(BreakerRule(5, 30.0), time.monotonic),
        prices=Prices(),
        counts=Counts(),
        clock=time.monotonic,
        sleep=time.sleep,
        patience_seconds=seconds,
    )
    return LlmJudge(line, JudgePrompt(8_000), Forgetful(), Limits(calls_at_once=16))


def model() -> tuple[StackedDetector, str]:
    """Our model stacked on L1, and what it is; where it is not there, the same network untrained, which takes as long.

    Raises ConfigError where the libraries or the base model are not installed.
    """
    from detectors.models.alone import Alone  # noqa: PLC0415  torch, which a bench of L1 does not need
    from detectors.models.options import ModelOptions  # noqa: PLC0415
    from detectors.models.own.base import base_folder  # noqa: PLC0415
    from detectors.models.own.loading import load_from  # noqa: PLC0415
    from detectors.models.stacking import load_stacked  # noqa: PLC0415

    options = ModelOptions(threads=1)
    try:
        return load_stacked(load_evidence_detector(), options), "ours"
    except ConfigError:
        with tempfile.TemporaryDirectory() as name:
            _untrained(Path(name), base_folder())
            return Alone(load_from(Path(name), base_folder(), options)), "the network of ours, untrained"


def _untrained(folder: Path, base: Path) -> None:
    from safetensors.torch import save_file  # noqa: PLC0415
    from torch import manual_seed  # noqa: PLC0415

    from detectors.models.own.loading import RECORD, WEIGHTS  # noqa: PLC0415
    from detectors.models.own.network import from_base, trained  # noqa: PLC0415

    manual_seed(0)
    save_file(trained(from_base(base)), folder / WEIGHTS)
    sums = hashlib.sha256((folder / WEIGHTS).read_bytes()).hexdigest()
    record = {"weights_sha256": sums, "most_chunks": 3, "calibration": {"slope": 1.0, "intercept": 0.0}}
    (folder / RECORD).write_text(json.dumps(record))
