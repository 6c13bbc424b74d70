"""Settings: the file, the environment, and messages that name key, value and fix."""

from pathlib import Path

import pytest
import yaml

from schemas.errors import ConfigError
from streams.settings import Role, Settings, deployment_salt, load_settings
from streams.settings.catalogue import entries
from streams.settings.kafka import SourceKafka
from streams.settings.reference import annotated_example, reference_markdown

ROOT = Path(__file__).parents[3]
SALT = "0123456789abcdef" * 2


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder and no variables of ours."""
    monkeypatch.chdir(tmp_path)
    for name in ("GROUNDWATCH_CONFIG", "GROUNDWATCH_DATA", "GROUNDWATCH_KAFKA_HOME"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def write(folder: Path, text: str) -> Path:
    """A configuration file with this text."""
    path = folder / "groundwatch.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_shipped_example_is_in_step_with_the_fields() -> None:
    """The file in the repository is what the fields say; `make docs` rewrites it."""
    assert annotated_example() == (ROOT / "groundwatch.yaml").read_text(encoding="utf-8")


def test_reference_page_is_in_step_with_the_fields() -> None:
    """The page in docs is what the fields say; `make docs` rewrites it."""
    assert reference_markdown() == (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")


def test_example_holds_the_defaults(folder: Path) -> None:
    """Loading the example changes nothing."""
    assert Settings() == load_settings(write(folder, annotated_example()))


@pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry.key)
def test_every_setting_is_described(entry: object) -> None:
    """No setting without a sentence."""
    assert getattr(entry, "description", "").endswith(".")


def test_file_in_the_working_folder_is_found(folder: Path) -> None:
    """Without an argument `groundwatch.yaml` is read."""
    write(folder, "web: {port: 9000}")
    assert load_settings().web.port == 9000


def test_environment_wins_over_the_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A variable replaces one key and leaves its neighbours."""
    write(folder, "web: {port: 9000, host: localhost}")
    monkeypatch.setenv("GROUNDWATCH_WEB__PORT", "9001")
    assert (9001, "localhost") == (load_settings().web.port, load_settings().web.host)


def test_overrides_win_over_the_environment(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the command line says holds."""
    monkeypatch.setenv("GROUNDWATCH_ROLES", "ingest")
    assert (Role.VERIFY, Role.SINK) == load_settings(overrides={"roles": ["verify", "sink"]}).roles


def test_a_check_that_nobody_could_ask_for_is_refused(folder: Path) -> None:
    """The role check alone has no token but its own."""
    with pytest.raises(ConfigError, match="check_token is empty"):
        load_settings(overrides={"roles": ["check"]})
    token = {"check_token": "x" * 16}
    assert (Role.CHECK,) == load_settings(overrides={"roles": ["check"], "web": token}).roles
    assert (Role.CHECK, Role.WEB) == load_settings(overrides={"roles": "check,web"}).roles


def test_lists_in_variables_are_split_at_commas(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody has to write JSON into a variable."""
    monkeypatch.setenv("GROUNDWATCH_KAFKA__SOURCE__TOPICS", "chat, search")
    assert SourceKafka(topics=("chat", "search")) == load_settings().kafka.source


def test_secret_lists_in_variables_stay_secret(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A webhook URL does not show up in a printed settings object."""
    monkeypatch.setenv("GROUNDWATCH_ALERTS__WEBHOOK_URLS", "https://example.org/hush")
    settings = load_settings()
    assert [url.get_secret_value() for url in settings.alerts.webhook_urls] == ["https://example.org/hush"]
    assert "hush" not in repr(settings)


@pytest.mark.parametrize("variable", ["GROUNDWATCH_DATA", "GROUNDWATCH_KAFKA_HOME", "GROUNDWATCH_SERVICE_PORT"])
def test_other_variables_with_our_prefix_are_left_alone(
    folder: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    """Test surroundings and Kubernetes set such names."""
    monkeypatch.setenv(variable, "x")
    assert Settings() == load_settings()


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("alerts: {tick_seconds: 0}", ["alerts.tick_seconds = 0", "at least 1 and at most 600"]),
        ("alerts: {tick_second: 5}", ["unknown key alerts.tick_second", "did you mean alerts.tick_seconds?"]),
        ("tick_seconds: 5", ["unknown key tick_seconds", "did you mean alerts.tick_seconds?"]),
        ("zzz: 5", ["unknown key zzz", "config example"]),
        ("roles: [ingest, vrify]", ["roles = 'vrify'", "any of ingest, assemble, verify"]),
        ("alerts: {timezone: Mars/Olympus}", ["alerts.timezone = 'Mars/Olympus'", "Europe/Berlin"]),
        ("alerts: {expected_rate: {low: .nan}}", ["alerts.expected_rate.low = nan"]),
        ("log: {level: loud}", ["log.level = 'loud'", "one of debug, info, warning, error"]),
        ("kafka: {source: {bootstrap_servers: localhost}}", ["kafka.source.bootstrap_servers = 'localhost'"]),
        ("kafka: {source: {sasl_mechanism: PLAIN}}", ["kafka.source", "sasl_username and sasl_password are needed"]),
        ("kafka: 5", ["kafka", "valid dictionary"]),
        ("- a", ["expected `key: value` lines"]),
        ("a: [", ["is not YAML"]),
        ("store: {retention_days: 5}\nweb: {port: 70000}", ["store.retention_days = 5", "web.port = 70000"]),
    ],
)
def test_mistake_is_named_with_its_fix(folder: Path, text: str, parts: list[str]) -> None:
    """The message holds the key, the value and what to write; every mistake is reported at once."""
    path = write(folder, text)
    with pytest.raises(ConfigError) as caught:
        load_settings(path)
    assert [part for part in [*parts, "groundwatch.yaml"] if part not in str(caught.value)] == []


def test_mistake_in_a_variable_is_named_as_such(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reader must know which of the two places to mend."""
    monkeypatch.setenv("GROUNDWATCH_WEB__PORT", "many")
    with pytest.raises(ConfigError, match=r"environment: GROUNDWATCH_WEB__PORT = 'many'"):
        load_settings()


def test_misspelt_variable_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A nested variable that sets nothing is a mistake."""
    monkeypatch.setenv("GROUNDWATCH_WEB__PROT", "1")
    with pytest.raises(ConfigError, match="did you mean GROUNDWATCH_WEB__PORT"):
        load_settings()


def test_secret_is_not_shown_in_a_message(folder: Path) -> None:
    """Not even a wrong one."""
    with pytest.raises(ConfigError) as caught:
        load_settings(write(folder, "ingest: {salt: hush}"))
    assert "hush" not in str(caught.value)
    assert "4 characters are too few" in str(caught.value)


def test_missing_file_is_named(folder: Path) -> None:
    """A path given by the user must exist."""
    with pytest.raises(ConfigError, match=r"cannot read .*nowhere\.yaml"):
        load_settings(folder / "nowhere.yaml")


def test_empty_file_means_defaults(folder: Path) -> None:
    """Everything may be commented out, sections too."""
    assert Settings() == load_settings(write(folder, "web:\n"))


def test_embedded_salt_is_made_once_and_kept(tmp_path: Path) -> None:
    """The same folder draws the same sample; nobody else can read the key."""
    settings = Settings(data_dir=tmp_path)
    salt = deployment_salt(settings)
    assert salt == deployment_salt(settings)
    assert (tmp_path / "salt").stat().st_mode & 0o777 == 0o600


def test_real_deployment_needs_a_salt(tmp_path: Path) -> None:
    """Several processes must draw alike, so none may make up its own."""
    with pytest.raises(ConfigError, match="GROUNDWATCH_INGEST__SALT"):
        deployment_salt(Settings(embedded=False, data_dir=tmp_path))


def test_given_salt_is_used(tmp_path: Path) -> None:
    """The setting wins over the file."""
    settings = Settings(data_dir=tmp_path, ingest={"salt": SALT})
    assert SALT.encode() == deployment_salt(settings)


def test_damaged_salt_is_refused(tmp_path: Path) -> None:
    """A cut file must not silently become another sample."""
    (tmp_path / "salt").write_text("short", encoding="utf-8")
    with pytest.raises(ConfigError, match="damaged"):
        deployment_salt(Settings(data_dir=tmp_path))


def test_store_defaults_to_the_data_folder(tmp_path: Path) -> None:
    """No address needed for the embedded engine."""
    assert f"chdb://{tmp_path / 'store'}" == Settings(data_dir=tmp_path).store_dsn


def test_default_bootstrap_needs_no_file() -> None:
    """The example is YAML that any parser reads."""
    assert "127.0.0.1:9092" == yaml.safe_load(annotated_example())["kafka"]["internal"]["bootstrap_servers"]
