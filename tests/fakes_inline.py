"""Checks of single answers over fakes: threads that are none, a policy that always holds, and requests."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import monotonic
from typing import Any, TypeVar, cast

from detectors.detector import Detector
from detectors.layers import Layers
from sampling.effective import compose
from schemas.policy import PolicyDocument
from schemas.routes import InlineRule, OnFailure, Route
from streams.inline.checker import Checker
from streams.inline.request import CheckRequest, read_request
from streams.inline.stages import Judges
from streams.inline.upper import Upper
from streams.inline.workers import Workers
from tests.builders import ANSWER, NOW, PASSAGE_TEXT
from tests.fakes import FakeDetector

T = TypeVar("T")
UNHURRIED = InlineRule(within_ms=120_000)
"""No test waits so long, and none fails because the machine is slow."""


@dataclass
class AtOnce:
    """In place of ``Workers``: does the work at once in the caller's thread, or raises ``error`` instead."""

    error: Exception | None = None
    late: int = 0
    asked: int = 0

    async def run(self, work: Callable[[], T], until: float, needs_seconds: float = 0.0) -> T:  # noqa: ARG002 - the seam's
        """What the work gives; the time is not looked at."""
        self.asked += 1
        if self.error is not None:
            raise self.error
        return work()

    def wait_seconds(self, each_seconds: float) -> float:  # noqa: ARG002 - the seam's
        """Nothing waits."""
        return 0.0


def policy_with(*routes: Route, **fields: Any) -> PolicyDocument:
    """A policy of these routes; without any, one that gives all the time."""
    return PolicyDocument(name="inline", routes=routes or (Route(inline=UNHURRIED),), **fields)


def failing_route(on_failure: OnFailure, **fields: Any) -> Route:
    """A route with all the time whose failures are open or closed."""
    return Route(inline=InlineRule(within_ms=120_000, on_failure=on_failure), **fields)


def checker(  # noqa: PLR0913 - what a checker is made of
    policy: PolicyDocument | None = None,
    *,
    detector: Detector | None = None,
    layers: Layers | None = None,
    below: AtOnce | Workers | None = None,
    models: AtOnce | Workers | None = None,
    endpoints: AtOnce | Workers | None = None,
    max_in_flight: int = 8,
) -> Checker:
    """A checker without threads unless some are given."""
    effective = compose("p-inline", policy or policy_with())
    return Checker(
        judges=Judges(detector or FakeDetector({"90": (0.05, 0.9)}), layers or Layers(), 100_000, lambda trace: trace),
        policy=lambda _ts: effective,
        now=lambda: NOW,
        below=cast("Workers", below or AtOnce()),
        upper=Upper(cast("Workers", models or AtOnce()), cast("Workers", endpoints or AtOnce())),
        max_in_flight=max_in_flight,
    )


def body(answer: str = ANSWER, **fields: Any) -> dict[str, Any]:
    """A request that the default fake detector finds supported."""
    passages = [{"doc_id": "refunds", "text": PASSAGE_TEXT, "url": "https://help.example.com/refunds"}]
    return {
        "question": "How long can I return my order?",
        "passages": passages,
        "intent": "refunds",
        **fields,
        "answer": answer,
    }


def request(answer: str = ANSWER, **fields: Any) -> CheckRequest:
    """The same, read."""
    return read_request(json.dumps(body(answer, **fields)).encode())


def soon() -> float:
    """A moment to wait for where something is meant to come too late."""
    return monotonic() + 0.02


def without(fields: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """The fields that are not named."""
    return {name: value for name, value in fields.items() if name not in names}
