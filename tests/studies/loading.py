"""Published studies in the database: all five in a second one beside the worker's own, loaded once for all modules that look at them, or
one in a transaction around a module's tests that is taken back after them.
"""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.db import connection, transaction
from django.test import override_settings

from apps.dashboard import prepare_state
from apps.dashboard.published.load import load_all, load_study
from apps.labs.isolation import lab_scope
from apps.labs.models import Lab
from apps.studies.lookup import published_lab

Said = list[str]
SAID = "said.json"


@dataclass(frozen=True)
class Reports:
    name: str
    artefacts: Path
    said: Said  # what loading said


@contextmanager
def in_database(name: str) -> Iterator[None]:
    """All of this thread's statements go there meanwhile."""
    own = connection.settings_dict["NAME"]
    connection.close()
    connection.settings_dict["NAME"] = name
    try:
        yield
    finally:
        connection.close()
        connection.settings_dict["NAME"] = own


def execute_beside(*statements: str) -> None:
    """Where no database may be open."""
    connection.close()
    with connection._nodb_cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


def load_into(artefacts: Path) -> Said:
    """Load all published reports into the connected database, and their files into a folder; nobody is notified."""
    with override_settings(ARTEFACT_DIR=artefacts), transaction.atomic():
        said = load_all()
        connection.run_on_commit = []
    return said


def fill(artefacts: str) -> None:
    """Do so for `bin/test`: its workers copy the database (SPINDLE_TEST_REPORTS) and read the folder.

    The database is marked as prepared, so that a product that begins with a copy does not load them again.
    """
    folder = Path(artefacts)
    folder.mkdir()
    (folder / SAID).write_text(json.dumps(load_into(folder)))
    prepare_state.remember()


@pytest.fixture(scope="session")
def reports_database(
    django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Reports]:
    own, filled = connection.settings_dict["NAME"], os.environ.get("SPINDLE_TEST_REPORTS")
    name, original = f"{own}_reports", filled or os.environ.get("SPINDLE_TEST_TEMPLATE") or own
    gone = f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)'
    try:
        with django_db_blocker.unblock():
            execute_beside(gone, f'CREATE DATABASE "{name}" TEMPLATE "{original}"')
            if filled:
                artefacts = Path(os.environ["SPINDLE_TEST_ARTEFACTS"])
                said = json.loads((artefacts / SAID).read_text())
            else:
                artefacts = tmp_path_factory.mktemp("artefacts")
                with in_database(name):
                    said = load_into(artefacts)
        yield Reports(name, artefacts, said)
    finally:
        with django_db_blocker.unblock():
            execute_beside(gone)


@pytest.fixture(scope="module")
def all_loaded(reports_database: Reports) -> Iterator[Said]:
    """What loading said; the module's tests are in the database of the five reports."""
    with override_settings(ARTEFACT_DIR=reports_database.artefacts), in_database(reports_database.name):
        yield reports_database.said


@pytest.fixture(scope="module")
def crs4_loaded(
    django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Said]:
    """The one report that is loaded quickest."""
    with override_settings(ARTEFACT_DIR=tmp_path_factory.mktemp("artefacts")):
        around = transaction.atomic()
        with django_db_blocker.unblock():
            around.__enter__()
        try:
            with django_db_blocker.unblock():
                said = load_study("crs4-sata-scsi", published_lab()[0])
            yield said
        finally:
            with django_db_blocker.unblock():
                transaction.set_rollback(True)
                around.__exit__(None, None, None)


@pytest.fixture
def published(all_loaded: Said, db: None) -> Iterator[Lab]:
    """Inside the scope of the lab of published reports; what a test changes is taken back after it."""
    lab = Lab.objects.get(slug="published-reports")
    with lab_scope(lab.pk):
        yield lab
