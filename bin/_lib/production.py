"""`bin/up --production`: what must be right before people outside this machine are served."""

import os
from urllib.parse import urlsplit

from bin._lib import django
from bin._lib.console import Trouble
from bin._lib.layout import DataFolder

SHORTEST_SECRET = 50  # characters


def check(data: DataFolder, env: dict[str, str]) -> None:
    """Raise every objection at once, each with its way out."""
    if found := objections({**os.environ, **env}):
        raise Trouble("Not fit for production: " + " ".join(found))
    django.run(data, env, "check", "--deploy", "--fail-level", "WARNING")


def objections(env: dict[str, str]) -> list[str]:
    site = urlsplit(env.get("SPINDLE_URL", ""))
    secret = env.get("SPINDLE_SECRET_KEY", "")
    return [
        sentence
        for wrong, sentence in (
            (env.get("SPINDLE_DEBUG", "").lower() in ("1", "true", "yes"), "SPINDLE_DEBUG is on; unset it."),
            (
                len(secret) < SHORTEST_SECRET or secret.startswith("django-insecure"),
                f"SPINDLE_SECRET_KEY is a known one or has under {SHORTEST_SECRET} characters; unset it.",
            ),
            (
                site.scheme != "https" or not site.hostname,
                "SPINDLE_URL is not an https address; set it to the one that people type, for example "
                "https://spindle.example.org (docs/how-to/administration.md has the proxy in front).",
            ),
        )
        if wrong
    ]
