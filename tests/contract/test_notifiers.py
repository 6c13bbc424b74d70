"""One contract over the receivers: the fake, a text stream, and a webhook against a real local server."""

import asyncio
import io
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest
from aiohttp import web

from alerts.notify import Notifier, StdoutNotifier, WebhookNotifier
from schemas.alert import Alert
from schemas.errors import NotifierRejected, NotifierUnavailable
from schemas.labels import AlertState
from tests.builders import alert
from tests.fakes_notifiers import CollectingNotifier

TOKEN = "s3cret-token"  # noqa: S105 - made up, and looked for in error texts


@dataclass
class Receiver:
    """A local HTTP server that answers with ``statuses`` in turn, then 200, and keeps what it got."""

    statuses: list[int] = field(default_factory=list)
    bodies: list[dict[str, object]] = field(default_factory=list)
    authorizations: list[str | None] = field(default_factory=list)
    delay_seconds: float = 0.0
    port: int = 0

    async def handle(self, request: web.Request) -> web.Response:
        """Keep the body and answer."""
        await asyncio.sleep(self.delay_seconds)
        self.bodies.append(await request.json())
        self.authorizations.append(request.headers.get("authorization"))
        status = self.statuses.pop(0) if self.statuses else 200
        return web.Response(status=status, headers={"location": "/other"} if status == 302 else None)

    @property
    def url(self) -> str:
        """Where it listens, with a secret in the path as chat tools have it."""
        return f"http://127.0.0.1:{self.port}/hooks/{TOKEN}"


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """A server in its own thread, since receivers are called from threads."""
    state, ready, loop = Receiver(), threading.Event(), asyncio.new_event_loop()

    async def start() -> web.AppRunner:
        app = web.Application()
        app.router.add_route("*", "/{tail:.*}", state.handle)
        runner = web.AppRunner(app)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        state.port = runner.addresses[0][1]
        return runner

    def serve() -> None:
        asyncio.set_event_loop(loop)
        runner = loop.run_until_complete(start())
        ready.set()
        loop.run_forever()
        loop.run_until_complete(runner.cleanup())
        loop.close()

    thread = threading.Thread(target=serve)
    thread.start()
    assert ready.wait(10)
    yield state
    loop.call_soon_threadsafe(loop.stop)
    thread.join(10)


@pytest.fixture
def webhook(receiver: Receiver) -> Iterator[WebhookNotifier]:
    """A webhook to the server that never waits between attempts."""
    notifier = WebhookNotifier(receiver.url, secret=TOKEN, timeout_seconds=0.5, sleep=lambda _: None)
    yield notifier
    notifier.close()


Delivered = Callable[[], list[tuple[str, str]]]
"""Ids and states that have reached the receiver."""


@pytest.fixture(params=["collecting", "stdout", "webhook"])
def case(request: pytest.FixtureRequest, receiver: Receiver, webhook: WebhookNotifier) -> tuple[Notifier, Delivered]:
    """Each receiver with a way to see what has reached it."""
    if request.param == "collecting":
        fake = CollectingNotifier()
        return fake, lambda: [(one.alert_id, one.state.value) for one in fake.received]
    if request.param == "stdout":
        stream = io.StringIO()

        def read() -> list[tuple[str, str]]:
            heads = [line.split(":")[0].lower() for line in stream.getvalue().splitlines() if not line.startswith(" ")]
            ids = [line.rsplit("/", 1)[1] for line in stream.getvalue().splitlines() if "/alerts/" in line]
            return list(zip(ids, heads, strict=True))

        return StdoutNotifier(stream, page_url="http://127.0.0.1"), read

    def received() -> list[tuple[str, str]]:
        alerts = [Alert.model_validate(body["alert"]) for body in receiver.bodies]
        return [(one.alert_id, one.state.value) for one in alerts]

    return webhook, received


def test_alert_is_delivered_when_notify_returns(case: tuple[Notifier, Delivered]) -> None:
    """No queue behind the call: what returned has arrived, in order, repeats included."""
    notifier, delivered = case
    for state in (AlertState.FIRING, AlertState.FIRING, AlertState.RESOLVED):
        notifier.notify(alert("jump-1", state=state))
    assert [("jump-1", "firing"), ("jump-1", "firing"), ("jump-1", "resolved")] == delivered()


def test_receiver_has_a_name_without_secrets(case: tuple[Notifier, Delivered]) -> None:
    """The name goes into topics and metrics."""
    notifier, _ = case
    assert notifier.name
    assert TOKEN not in notifier.name


def test_input_is_not_changed(case: tuple[Notifier, Delivered]) -> None:
    """The alert is the same afterwards."""
    paged = alert()
    case[0].notify(paged)
    assert alert() == paged


def test_webhook_sends_text_alert_and_bearer_token(receiver: Receiver, webhook: WebhookNotifier) -> None:
    """The body holds the summary and the whole alert; the secret goes into the header."""
    paged = alert("jump-1")
    webhook.notify(paged)
    (body,) = receiver.bodies
    assert paged == Alert.model_validate_json(json.dumps(body["alert"]))
    assert "refunds, medium risk" in str(body["text"])
    assert [f"Bearer {TOKEN}"] == receiver.authorizations


@pytest.mark.parametrize("status", [500, 503, 429])
def test_webhook_tries_again_and_arrives(receiver: Receiver, webhook: WebhookNotifier, status: int) -> None:
    """Two failures that pass by themselves are forgiven."""
    receiver.statuses = [status, status]
    webhook.notify(alert())
    assert 3 == len(receiver.bodies)


def test_webhook_gives_up_after_its_attempts(receiver: Receiver, webhook: WebhookNotifier) -> None:
    """Three failures are unavailable, to be tried later."""
    receiver.statuses = [500] * 5
    with pytest.raises(NotifierUnavailable, match="500") as caught:
        webhook.notify(alert())
    assert 3 == len(receiver.bodies)
    assert TOKEN not in str(caught.value)


@pytest.mark.parametrize("status", [302, 400, 404, 410])
def test_refusal_is_for_ever(receiver: Receiver, webhook: WebhookNotifier, status: int) -> None:
    """A 4xx or a redirect is not tried again, and the text names no URL."""
    receiver.statuses = [status]
    with pytest.raises(NotifierRejected, match=str(status)) as caught:
        webhook.notify(alert())
    assert 1 == len(receiver.bodies)
    assert "127.0.0.1" not in str(caught.value)


def test_slow_receiver_is_unavailable(receiver: Receiver) -> None:
    """There is always a timeout."""
    receiver.delay_seconds = 1.0
    notifier = WebhookNotifier(receiver.url, timeout_seconds=0.05, attempts=1)
    with pytest.raises(NotifierUnavailable, match="Timeout"):
        notifier.notify(alert())
    notifier.close()


def test_absent_receiver_is_unavailable() -> None:
    """Nobody listens; the text does not say where, and nothing of it is chained."""
    notifier = WebhookNotifier(f"http://127.0.0.1:1/{TOKEN}", attempts=2, sleep=lambda _: None)
    with pytest.raises(NotifierUnavailable) as caught:
        notifier.notify(alert())
    notifier.close()
    assert TOKEN not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("url", ["", "ftp://127.0.0.1/x", "not a url", "http://[::1"])
def test_wrong_url_is_rejected(url: str) -> None:
    """A URL that can never work is no reason to retry for ever."""
    notifier = WebhookNotifier(url, sleep=lambda _: None)
    with pytest.raises(NotifierRejected, match="URL"):
        notifier.notify(alert())
    notifier.close()


@pytest.mark.parametrize("failure", [NotifierUnavailable("later"), NotifierRejected("never")])
def test_fake_fails_as_the_real_ones_do(failure: NotifierUnavailable | NotifierRejected) -> None:
    """Tests can make the fake raise either error."""
    with pytest.raises(type(failure)):
        CollectingNotifier(failure).notify(alert())
