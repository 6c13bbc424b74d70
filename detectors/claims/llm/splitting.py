"""Splits answers with a language model: the rules find the sentences, the model only parts them further.

So the worst that a model can do is to be refused: then the rules' claims stand, and the claims say so.
"""

import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import blake2b

from detectors.claims.llm.reply import BY, prompt, question, read_reply, schema
from detectors.claims.parts import Part, numbered, part_claims
from detectors.claims.scripts import count_words
from detectors.claims.split import split_claims, splitter_name
from detectors.completion import Ask, Completion, CompletionFailed, Message
from detectors.replies import ReplyRefused, asked_again
from schemas.claim import Claim
from schemas.policy import ClaimSplitting

WORDS_PER_CALL = 500
RETRIES = 2
MAX_TOKENS = 4096
_LEAST_TOKENS = 256
FAILURES = ("parse", "span", "coverage", "timeout", "too_long", "model", "internal")
"""Why the rules took over: the last fault of the last try."""
MOST_SILENT = 3
"""So many answers of a batch may find the endpoint silent; the others of that batch are not sent to it."""
_SILENT = frozenset({"timeout", "model"})
_FALLBACK = re.compile(rf"\({BY}: (\w+)\)\Z")


@dataclass(frozen=True, slots=True)
class LlmSplitter:
    """Splits by ``completion``; ``calls_at_once`` answers are split at a time."""

    completion: Completion
    calls_at_once: int = 8

    @property
    def name(self) -> str:
        """What the fingerprint calls it: model, hash of the prompt, and the rules below it."""
        content = blake2b(prompt().encode(), digest_size=4).hexdigest()
        return f"{BY}:{self.completion.model}:{content}/{splitter_name()}"

    def split_many(self, answers: Sequence[tuple[str, ClaimSplitting]]) -> list[tuple[tuple[Claim, ...], str]]:
        """For each answer its claims and what made them; never raises.

        What made them is ``name``; where the model fails, the policy's rules with the reason (one of ``FAILURES``) in
        brackets.
        """
        if not answers:
            return []
        silent: list[str] = []
        with ThreadPoolExecutor(max_workers=self.calls_at_once) as pool:
            return list(pool.map(lambda pair: self._split(pair[0], pair[1], silent), answers))

    def _split(self, answer: str, fallback: ClaimSplitting, silent: list[str]) -> tuple[tuple[Claim, ...], str]:
        """``silent`` holds the reasons of answers that found the endpoint silent, shared by the batch."""
        if len(silent) >= MOST_SILENT:
            return _by_rules(answer, fallback, silent[-1])
        try:
            return self._split_by_model(answer), self.name
        except (CompletionFailed, ReplyRefused) as error:
            reason = error.reason
            if reason in _SILENT:
                silent.append(reason)
        except Exception:  # noqa: BLE001 - whatever a client does with odd text, the answer is still judged
            reason = "internal"
        return _by_rules(answer, fallback, reason)

    def _split_by_model(self, answer: str) -> tuple[Claim, ...]:
        sentences = split_claims(answer)
        factual = [claim for claim in sentences if claim.is_factual]
        parts = [found for batch in _batches(factual) for found in self._ask([claim.text for claim in batch])]
        by_index = {claim.index: found for claim, found in zip(factual, parts, strict=True)}
        return numbered(made for claim in sentences for made in part_claims(claim, by_index.get(claim.index, ())))

    def _ask(self, sentences: Sequence[str]) -> list[list[Part]]:
        """Parts of each sentence; a reply that is refused is asked for again, twice, with the reason."""
        messages: list[Message] = [
            {"role": "system", "content": prompt()},
            {"role": "user", "content": question(sentences)},
        ]
        for _ in range(RETRIES):
            reply = self._reply(messages)
            try:
                return read_reply(reply, sentences)
            except ReplyRefused as error:
                messages += asked_again(reply, error)
        return read_reply(self._reply(messages), sentences)

    def _reply(self, messages: Sequence[Message]) -> str:
        choice = self.completion.ask(Ask(messages, _most_tokens(messages), schema(), schema_name="claims")).choices[0]
        if choice.is_cut:
            raise CompletionFailed("too_long")
        return choice.text


def _most_tokens(messages: Sequence[Message]) -> int:
    """Longest reply: a token a character of the sentences is twice what quotations with their JSON need."""
    return min(MAX_TOKENS, _LEAST_TOKENS + len(messages[1]["content"]))


def _by_rules(answer: str, split: ClaimSplitting, reason: str) -> tuple[tuple[Claim, ...], str]:
    return split_claims(answer, split), f"{splitter_name(split)} ({BY}: {reason})"


def fallback_reason(splitter: str) -> str:
    """Why the rules took over, as what made the claims tells it; empty where they did not."""
    match = _FALLBACK.search(splitter)
    return match[1] if match else ""


def _batches(claims: Sequence[Claim]) -> Iterator[list[Claim]]:
    """Sentences of at most 500 words together. Raises CompletionFailed for a single longer one."""
    batch: list[Claim] = []
    held = 0
    for claim in claims:
        words = count_words(claim.text)
        if words > WORDS_PER_CALL:
            raise CompletionFailed("too_long")
        if batch and held + words > WORDS_PER_CALL:
            yield batch
            batch, held = [], 0
        batch.append(claim)
        held += words
    if batch:
        yield batch
