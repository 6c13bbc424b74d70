"""Exit codes, the same for every command; 69, 70 and 75 follow sysexits.h."""

from enum import IntEnum

from schemas.errors import ConfigError, GroundwatchError, InvalidMessage, NotReached


class ExitCode(IntEnum):
    """What a supervisor or script can tell from the exit status; ``MEANINGS`` says what each stands for."""

    OK = 0
    FOUND_FAULTS = 1
    WRONG_CONFIG = 2
    CEILING = 65
    UNAVAILABLE = 69
    BUG = 70
    NOT_DRAINED = 75
    STALLED = 79
    INTERRUPTED = 130


MEANINGS = {
    ExitCode.OK: "fine; `run` after a signal: everything in flight was finished",
    ExitCode.FOUND_FAULTS: "faults found in the input or in the store, or what was asked for is not there; "
    "`run`: a part failed",
    ExitCode.WRONG_CONFIG: "a setting, a policy file or the command line is wrong; the message names it and the fix",
    ExitCode.CEILING: "stopped because too much of the input was unreadable (`ingest.dead_letter_max_run`, "
    "`ingest.dead_letter_max_share`)",
    ExitCode.UNAVAILABLE: "Kafka, the store, or the hub of models did not answer",
    ExitCode.BUG: "an error that nobody foresaw; the traceback is on standard error",
    ExitCode.NOT_DRAINED: "stopped before everything in flight was finished; nothing is lost, it is done again at the "
    "next start",
    ExitCode.STALLED: "`run`: the watchdog found that the process had work, lacked nothing and did not work; start it "
    "again (the log says why, docs/operations.md what to do)",
    ExitCode.INTERRUPTED: "Ctrl-C in a command that has nothing to finish",
}


def exit_code(error: GroundwatchError) -> ExitCode:
    """The exit code that an error ends a command with."""
    if isinstance(error, ConfigError):
        return ExitCode.WRONG_CONFIG
    if isinstance(error, NotReached | InvalidMessage):
        return ExitCode.FOUND_FAULTS
    return ExitCode.UNAVAILABLE
