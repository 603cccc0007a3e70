"""Settings from the environment, with errors that say what was found and what was expected."""

import os
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit


def envbool(name: str, default: bool) -> bool:
    value = os.environ.get(name, str(default))
    if value.lower() in ("true", "1", "yes"):
        return True
    if value.lower() in ("false", "0", "no", ""):
        return False
    raise ValueError(f"Unexpected value {name}={value}, use True or False")


def envint(name: str, default: int) -> int:
    value = os.environ.get(name, str(default))
    try:
        return int(value)
    except ValueError:
        raise ValueError(f"Unexpected value {name}={value}, use a whole number") from None


def envchoice(name: str, default: str, choices: tuple[str, ...]) -> str:
    value = os.environ.get(name) or default
    if value not in choices:
        raise ValueError(f"Unexpected value {name}={value}, use one of {', '.join(choices)}")
    return value


def envlist(name: str, default: str) -> list[str]:
    return [part.strip() for part in os.environ.get(name, default).split(",") if part.strip()]


def envsecret(name: str, default: str = "") -> str:
    """Return the value of NAME, or the content of the file that NAME_FILE names (Docker secrets)."""
    if path := os.environ.get(f"{name}_FILE"):
        return Path(path).read_text().strip()
    return os.environ.get(name, default)


def database_from_url(url: str) -> dict[str, object]:
    """Return Django's DATABASES entry for `postgresql://user:password@host:port/name`.

    A Unix socket folder goes in the host part, percent-encoded, or in `?host=/folder`.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("postgresql", "postgres"):
        raise ValueError(f"DATABASE_URL begins with {parts.scheme}://, expected postgresql://")
    query = parse_qs(parts.query)
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(parts.path.lstrip("/")),
        "USER": unquote(parts.username or "") or query.get("user", [""])[0],
        "PASSWORD": unquote(parts.password or ""),
        "HOST": query.get("host", [""])[0] or unquote(parts.hostname or ""),
        "PORT": str(parts.port or ""),
    }


@dataclass(frozen=True)
class Mail:
    """How mail is sent; without a server it is written to the worker's output, which nobody gets."""

    backend: str = "django.core.mail.backends.console.EmailBackend"
    host: str = "localhost"
    port: int = 25
    user: str = ""
    password: str = ""
    use_tls: bool = False
    use_ssl: bool = False


def mail_from_url(url: str) -> Mail:
    """Parse `smtp://user:password@host:587?tls=1` (STARTTLS) or `smtps://…:465`; empty means no mail server.

    User and password are percent-encoded.

    Raises:
        ValueError: It is no such address.
    """
    if not url:
        return Mail()
    parts = urlsplit(url)
    if parts.scheme not in ("smtp", "smtps") or not parts.hostname:
        raise ValueError(f"SPINDLE_EMAIL_URL begins with {parts.scheme}://, expected smtp://host or smtps://host")
    is_ssl = parts.scheme == "smtps"
    tls = parse_qs(parts.query).get("tls", ["0"])[0].lower()
    return Mail(
        backend="django.core.mail.backends.smtp.EmailBackend",
        host=parts.hostname,
        port=parts.port or (465 if is_ssl else 25),
        user=unquote(parts.username or ""),
        password=unquote(parts.password or ""),
        use_tls=not is_ssl and tls in ("1", "true", "yes"),
        use_ssl=is_ssl,
    )


def contacts_from(text: str) -> list[str]:
    """Parse SPINDLE_SECURITY_CONTACT: `mailto:`, `https:` and `tel:` addresses or plain e-mail addresses, separated by commas.

    Raises:
        ValueError: One is no such address.
    """
    parts = [part.strip() for part in text.split(",") if part.strip()]
    contacts = [f"mailto:{part}" if "@" in part and ":" not in part else part for part in parts]
    for part in contacts:
        if not part.startswith(("mailto:", "https://", "tel:")) or any(sign.isspace() for sign in part):
            raise ValueError(
                f"Unexpected value SPINDLE_SECURITY_CONTACT={text}, use mailto:name@example.org or https://example.org/report"
            )
    return contacts


def celery_broker_url(redis_url: str) -> str:
    """Return the broker's address as kombu spells it: `redis+socket:///path?virtual_host=0` for `unix:///path?db=0`."""
    parts = urlsplit(redis_url)
    if parts.scheme != "unix":
        return redis_url
    db = parse_qs(parts.query).get("db", ["0"])[0]
    user = f":{parts.password}@" if parts.password else ""
    return f"redis+socket://{user}{parts.path}?virtual_host={db}"
