"""Alerts as a JSON POST: ``{"text": …, "alert": {…}}``, so that chat tools show the text and programs read the rest.

URLs and headers of webhooks are secrets, so neither they nor the client's own messages reach an error text.
"""

import time
from collections.abc import Callable
from http import HTTPStatus

import httpx
from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_random_exponential

from alerts.notify.text import render
from schemas.alert import Alert
from schemas.errors import NotifierRejected, NotifierUnavailable

TRY_LATER = frozenset({HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_EARLY, HTTPStatus.TOO_MANY_REQUESTS})
"""Refusals that pass by themselves although they begin with a 4."""


class WebhookNotifier:
    """Posts to one URL; ``secret`` is sent as a bearer token. Redirects are refused: they could leak the token.

    At most ``attempts`` posts of ``timeout_seconds`` each, waiting up to ``longest_wait_seconds`` between them.
    """

    def __init__(  # noqa: PLR0913 - all but the URL have defaults and are given by name
        self,
        url: str,
        *,
        name: str = "webhook",
        secret: str = "",
        page_url: str = "",
        timeout_seconds: float = 10.0,
        attempts: int = 3,
        longest_wait_seconds: float = 10.0,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.name = name
        self._url = url
        self._page_url = page_url
        headers = {"authorization": f"Bearer {secret}"} if secret else {}
        self._client = httpx.Client(timeout=timeout_seconds, headers=headers, follow_redirects=False)
        self._retrying = Retrying(
            retry=retry_if_exception_type(NotifierUnavailable),
            stop=stop_after_attempt(attempts),
            wait=wait_random_exponential(max=longest_wait_seconds),
            sleep=sleep,
            reraise=True,
        )

    def notify(self, alert: Alert) -> None:
        """Post until a 2xx; raises NotifierUnavailable after the last attempt, NotifierRejected at once."""
        body = {"text": render(alert, page_url=self._page_url), "alert": alert.model_dump(mode="json")}
        self._retrying(self._post, body)

    def close(self) -> None:
        """Close idle connections."""
        self._client.close()

    def _post(self, body: dict[str, object]) -> None:
        try:
            status = self._client.post(self._url, json=body).status_code
        except (httpx.InvalidURL, httpx.UnsupportedProtocol):
            message = f"receiver {self.name}: its URL is not valid; set an http(s) URL"
            raise NotifierRejected(message) from None
        except httpx.HTTPError as error:
            message = f"receiver {self.name} was not reached ({type(error).__name__})"
            raise NotifierUnavailable(message) from None
        if status >= HTTPStatus.INTERNAL_SERVER_ERROR or status in TRY_LATER:
            raise NotifierUnavailable(f"receiver {self.name} answered {status}")
        if status >= HTTPStatus.MULTIPLE_CHOICES:
            raise NotifierRejected(f"receiver {self.name} answered {status}; check its URL and its secret")
