"""A database that the migrations have made, for the tests to copy: they take as long as hundreds of tests, and each
worker of each stage would run them again."""

from collections.abc import Mapping
from urllib.parse import urlsplit

from bin._lib.psql import psql

VARIABLE = "SPINDLE_TEST_TEMPLATE"  # its name, for tests/conftest.py


def create(url: str) -> dict[str, str]:
    """An empty one beside the database at `url`; what the environment needs so that `manage.py migrate` fills it."""
    name = f"{urlsplit(url).path.lstrip('/')}_migrated"
    psql(url, f'CREATE DATABASE "{name}"')
    return {"DATABASE_URL": urlsplit(url)._replace(path=f"/{name}").geturl()}


def copied(filled: Mapping[str, str]) -> dict[str, str]:
    """What the environment of the tests needs."""
    return {VARIABLE: urlsplit(filled["DATABASE_URL"]).path.lstrip("/")}
