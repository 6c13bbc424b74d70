"""Hand-written parts around self-consistency: a model with prepared answers, and a purse that counts."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from detectors.consistency import ResamplingFailed, Samples
from detectors.layers import Payer, Spent
from tests.fakes_layers import spent


@dataclass
class ScriptedResampler:
    """Gives ``texts`` for every prompt, or raises ``error``; records what it was asked for."""

    texts: Sequence[str] = ()
    error: Exception | None = None
    model: str = "m-1"
    spent: Spent = field(default_factory=spent)
    asked: list[tuple[str, int, float, int]] = field(default_factory=list)
    deadlines: list[float | None] = field(default_factory=list)

    def sample(self, prompt: str, count: int, temperature: float, max_tokens: int, deadline: float | None) -> Samples:
        """The texts, at most ``count``."""
        self.asked.append((prompt, count, temperature, max_tokens))
        self.deadlines.append(deadline)
        if isinstance(self.error, ResamplingFailed):
            raise ResamplingFailed(self.error.reason, self.spent)
        if self.error is not None:
            raise self.error
        return Samples(tuple(self.texts[:count]), self.spent)


@dataclass
class CountingPurse:
    """Lets ``left`` tokens be spent; ``held`` are reserved and not settled yet."""

    left: int = 1_000_000
    held: int = 0
    spent: list[Spent] = field(default_factory=list)
    payers: list[Payer] = field(default_factory=list)

    def may_spend(self, payer: Payer, tokens: int) -> bool:
        """Reserve, where it fits."""
        if tokens > self.left - self.held:
            return False
        self.held += tokens
        self.payers.append(payer)
        return True

    def settle(self, payer: Payer, reserved: int, spent: Spent) -> None:
        """Take what was spent in truth; only who reserved may settle."""
        assert payer in self.payers
        self.held -= reserved
        self.left -= spent.tokens_in + spent.tokens_out
        self.spent.append(spent)
