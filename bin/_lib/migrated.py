"""Databases that are filled once for the tests to copy.

The migrations take as long as hundreds of tests, the published reports as long as a hundred, and each worker of each
stage would do both again.
"""

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from bin._lib.psql import psql

VARIABLE = "SPINDLE_TEST_TEMPLATE"  # the name of the migrated database, for tests/conftest.py
REPORTS = "SPINDLE_TEST_REPORTS"  # the name of the one with the published reports, for tests/studies/loading.py
ARTEFACTS = "SPINDLE_TEST_ARTEFACTS"  # the folder with the files of those reports


def create(url: str) -> dict[str, str]:
    """Create an empty one beside the database at `url`.

    Returns:
        What the environment needs so that `manage.py migrate` fills it.
    """
    name = f"{name_in(url)}_migrated"
    psql(url, f'CREATE DATABASE "{name}"')
    return at(url, name)


def copied(filled: Mapping[str, str]) -> dict[str, str]:
    """Return what the environment of the tests needs."""
    return {VARIABLE: name_in(filled["DATABASE_URL"])}


def create_for_reports(url: str, migrated: Mapping[str, str]) -> dict[str, str]:
    """Copy the migrated database for the published reports; return what the environment needs to load them into the copy."""
    name = f"{name_in(url)}_reports"
    psql(url, f'CREATE DATABASE "{name}" TEMPLATE "{name_in(migrated["DATABASE_URL"])}"')
    return at(url, name)


def with_reports(filled: Mapping[str, str], artefacts: Path) -> dict[str, str]:
    """Return what the environment of the tests needs to copy the reports."""
    return {REPORTS: name_in(filled["DATABASE_URL"]), ARTEFACTS: str(artefacts)}


def without_copies() -> dict[str, str]:
    """Return the environment of tests on other servers, where every worker fills its own."""
    return {VARIABLE: "", REPORTS: "", ARTEFACTS: ""}


def name_in(url: str) -> str:
    return urlsplit(url).path.lstrip("/")


def at(url: str, name: str) -> dict[str, str]:
    return {"DATABASE_URL": urlsplit(url)._replace(path=f"/{name}").geturl()}
