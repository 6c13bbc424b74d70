"""What is known of one source topic once its settings are compiled."""

from contextlib import AsyncExitStack
from dataclasses import dataclass

from schemas.errors import ConfigError
from schemas.patterns import compile_pattern
from streams.assembly import AssemblyRules, PromptLayout
from streams.settings.sources import SourceSettings
from streams.sources.envelopes.otlp_proto import Signal
from streams.sources.fields import FieldRules, Rule, TierRules
from streams.sources.mapping import PRESETS, Mapper, load_mapping, preset
from streams.sources.registry.client import Access, RegistryClient
from streams.sources.registry.documents import RegistryDocuments, check_installed


@dataclass(frozen=True, slots=True)
class Topic:
    """``format`` as in the settings. ``mappers`` are the presets by name, or the mapping file alone."""

    format: str
    signal: Signal | None
    mappers: dict[str, Mapper]
    fields: FieldRules
    own_fields: FieldRules
    """The rules that the settings name, without the default ones: whole native traces state their fields already."""
    tiers: TierRules
    has_own_tiers: bool
    assembly: AssemblyRules
    registry: RegistryDocuments | None
    is_strict: bool

    @classmethod
    def of(cls, settings: SourceSettings, stack: AsyncExitStack) -> "Topic":
        """``stack`` closes what is opened here. Raises ConfigError naming key and fix."""
        own = {name: [Rule.of(**rule.model_dump()) for rule in rules] for name, rules in settings.rules.items()}
        tiers = TierRules([(compile_pattern(rule.intent), rule.tier) for rule in settings.tiers], settings.default_tier)
        layouts = tuple(PromptLayout(one.start, one.end, one.separator) for one in settings.prompts)
        return cls(
            format=settings.format,
            signal=Signal(settings.signal) if settings.signal else None,
            mappers=_mappers(settings),
            fields=FieldRules.of(own),
            own_fields=FieldRules(own),
            tiers=tiers,
            has_own_tiers=bool({"tiers", "default_tier"} & settings.model_fields_set),
            assembly=AssemblyRules(tiers.tier_of, layouts),
            registry=_registry(settings, stack),
            is_strict=settings.strict,
        )


def _mappers(settings: SourceSettings) -> dict[str, Mapper]:
    if settings.mapping is not None:
        return {"mapping": load_mapping(settings.mapping, settings.naive_time)}
    names = [settings.format] if settings.format in PRESETS else PRESETS if settings.format == "auto" else ()
    return {name: preset(name, settings.naive_time) for name in names}


def _registry(settings: SourceSettings, stack: AsyncExitStack) -> RegistryDocuments | None:
    if not settings.registry_url:
        return None
    access = Access(
        url=settings.registry_url,
        user=settings.registry_user,
        password=settings.registry_password.get_secret_value(),
        token=settings.registry_token.get_secret_value(),
        ca_file=str(settings.registry_ca_file or ""),
    )
    try:
        check_installed()
        client = access.open()
    except ConfigError as error:
        raise ConfigError(f"sources, topic {settings.topic}: registry_url: {error}") from error
    stack.push_async_callback(client.aclose)
    return RegistryDocuments(RegistryClient(client))
