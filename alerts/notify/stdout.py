"""Alerts as text on a stream: what a person sees who has set up no receiver yet."""

from typing import TextIO

from alerts.notify.text import render
from schemas.alert import Alert
from schemas.errors import NotifierUnavailable


class StdoutNotifier:
    """Writes each alert to ``stream``; ``page_url`` is the base of the link below it, empty for none."""

    def __init__(self, stream: TextIO, *, page_url: str = "", name: str = "stdout") -> None:
        self.name = name
        self._stream = stream
        self._page_url = page_url

    def notify(self, alert: Alert) -> None:
        """Write and flush. Raises NotifierUnavailable when the stream is closed or full."""
        text = render(alert, page_url=self._page_url)
        encoding = getattr(self._stream, "encoding", None) or "utf-8"
        try:
            self._stream.write(text.encode(encoding, "replace").decode(encoding))
            self._stream.flush()
        except (OSError, ValueError) as error:
            message = f"receiver {self.name}: the stream does not take text ({type(error).__name__})"
            raise NotifierUnavailable(message) from error
