"""Every error that crosses a module boundary.

::

    GroundwatchError
      ConfigError            at start: exit code 2, names the setting
      InvalidMessage         never right: dead-letter topic, with position and reason
      Retryable              wait and try again; the message is not let go
        StoreUnavailable
        BrokerUnavailable
        NotifierUnavailable
        RegistryUnavailable
        HubUnavailable
        PolicyIncomplete     the policy log does not yet cover this event time
        SchemaTooNew         a newer worker wrote it; this one must be upgraded
      RowRejected            the store refuses a row for ever
      NotifierRejected       never right: counted, the alert stays open
      NotReached             a command could not find what it needs (no running process, no such alert)
"""


class GroundwatchError(Exception):
    """Base of all errors of this project; the text says what failed, the value and what to do."""


class ConfigError(GroundwatchError):
    """A setting, rule or policy file is wrong; names the key, the value and the fix."""


class InvalidMessage(GroundwatchError):
    """A message that can never become a trace; goes to the dead letter with its original bytes.

    ``reason`` is a short constant (``not_json``, ``wrong_type``, …) fit for a metric label; ``detail`` names the field;
    ``decoder`` is what tried to read it, once that is known.
    """

    def __init__(self, reason: str, detail: str, decoder: str = "") -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail
        self.decoder = decoder


class Retryable(GroundwatchError):
    """A condition that passes by itself; the caller waits and tries again."""


class StoreUnavailable(Retryable):
    """The store did not answer, or answered that it cannot take writes now."""


class BrokerUnavailable(Retryable):
    """The broker did not answer."""


class NotifierUnavailable(Retryable):
    """A receiver did not answer, or asked to try later."""


class RegistryUnavailable(Retryable):
    """The schema registry did not answer, failed, or refused the credentials."""


class HubUnavailable(Retryable):
    """The hub of models did not answer."""


class PolicyIncomplete(Retryable):
    """No heartbeat of the policy log covers the trace's event time yet."""


class SchemaTooNew(Retryable):
    """A message of ours comes from a newer version, which this one cannot read; it waits for the upgraded worker."""


class RowRejected(GroundwatchError):
    """The store refuses the batch for what is in it; retrying the same rows cannot help."""


class NotifierRejected(GroundwatchError):
    """A receiver refused a notification for ever."""


class NotReached(GroundwatchError):
    """A command's target (running process, alert, trace) is not there; the text says how to find it."""
