"""Who is told, and how; the only room of ``alerts`` that does input and output."""

from alerts.notify.decision import Reason, Sent, decide
from alerts.notify.receiver import Notifier
from alerts.notify.stdout import StdoutNotifier
from alerts.notify.text import headline, render
from alerts.notify.webhook import WebhookNotifier

__all__ = [
    "Notifier",
    "Reason",
    "Sent",
    "StdoutNotifier",
    "WebhookNotifier",
    "decide",
    "headline",
    "render",
]
