"""The key of the sampling draw: given for a real deployment, made once and kept for an embedded one."""

import os
import secrets
from pathlib import Path

from schemas.errors import ConfigError
from streams.settings.fields import Settings
from streams.settings.parts import MIN_SALT_CHARACTERS

SALT_FILE = "salt"
_FIX = 'set GROUNDWATCH_INGEST__SALT to the same random text in every process (`python -c "import secrets; '
_FIX += 'print(secrets.token_hex(32))"` makes one) and never change it'


def deployment_salt(settings: Settings) -> bytes:
    """The salt of this deployment; embedded, it is made on first use in ``data_dir`` with mode 0600.

    Raises ConfigError when none is given outside the embedded mode, or the file is damaged.
    """
    given = settings.ingest.salt.get_secret_value()
    if given:
        return given.encode()
    if not settings.embedded:
        raise ConfigError(f"ingest.salt is empty: {_FIX}")
    return _kept_salt(settings.data_dir / SALT_FILE)


def known_salt(settings: Settings) -> bytes | None:
    """The salt as far as it is known here, None where it is not; never makes one."""
    given = settings.ingest.salt.get_secret_value()
    if given:
        return given.encode()
    path = settings.data_dir / SALT_FILE
    return _kept_salt(path) if settings.embedded and path.is_file() else None


def _kept_salt(path: Path) -> bytes:
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        salt = path.read_bytes().strip()
        if len(salt) < MIN_SALT_CHARACTERS:
            raise ConfigError(f"{path} is damaged ({len(salt)} bytes); restore it from a backup, or {_FIX}") from None
        return salt
    salt = secrets.token_hex(32).encode()
    with os.fdopen(descriptor, "wb") as file:
        file.write(salt)
    return salt
