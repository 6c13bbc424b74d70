"""Exit codes, the same for every command; 69, 70 and 75 follow sysexits.h."""

from enum import IntEnum

from schemas.errors import ConfigError, GroundwatchError, InvalidMessage, NotReached


class ExitCode(IntEnum):
    """What a supervisor or script can tell from the exit status."""

    OK = 0
    FOUND_FAULTS = 1
    """The command worked, but some of its input was wrong or what was asked for is not there."""
    WRONG_CONFIG = 2
    """A setting, a policy file or the command line itself is wrong."""
    CEILING = 65
    """Ingest stopped because too much of its input was unreadable; see ingest.dead_letter_max_run and _max_share."""
    UNAVAILABLE = 69
    """Kafka or the store did not answer."""
    BUG = 70
    """An error that nobody foresaw; the traceback is on standard error."""
    NOT_DRAINED = 75
    """Stopped before everything in flight was finished; nothing is lost, it is done again at the next start."""
    INTERRUPTED = 130
    """Ctrl-C in a command that has nothing to drain."""


def exit_code(error: GroundwatchError) -> ExitCode:
    """The exit code that an error ends a command with."""
    if isinstance(error, ConfigError):
        return ExitCode.WRONG_CONFIG
    if isinstance(error, NotReached | InvalidMessage):
        return ExitCode.FOUND_FAULTS
    return ExitCode.UNAVAILABLE
