"""Published studies in the database, loaded once for a module: a transaction around its tests, taken back after them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import transaction
from django.test import override_settings

from apps.dashboard.published.load import load_all, load_study
from apps.labs.isolation import lab_scope
from apps.labs.models import Lab
from apps.studies.load import published_lab

Said = list[str]


@contextmanager
def loaded_once(load: Callable[[], Said], blocker: Any, folders: pytest.TempPathFactory) -> Iterator[Said]:
    """What loading said, while it is loaded."""
    with override_settings(ARTEFACT_DIR=folders.mktemp("artefacts")):
        with blocker.unblock():
            around = transaction.atomic()
            around.__enter__()
        try:
            with blocker.unblock():
                said = load()
            yield said
        finally:
            with blocker.unblock():
                transaction.set_rollback(True)
                around.__exit__(None, None, None)


@pytest.fixture(scope="module")
def all_loaded(
    django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Said]:
    with loaded_once(load_all, django_db_blocker, tmp_path_factory) as said:
        yield said


@pytest.fixture(scope="module")
def crs4_loaded(
    django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Said]:
    """The one report that is loaded quickest."""

    def load() -> Said:
        return load_study("crs4-sata-scsi", published_lab()[0])

    with loaded_once(load, django_db_blocker, tmp_path_factory) as said:
        yield said


@pytest.fixture
def published(all_loaded: Said, db: None) -> Iterator[Lab]:
    """Inside the scope of the lab of published reports; what a test changes is taken back after it."""
    lab = Lab.objects.get(slug="published-reports")
    with lab_scope(lab.pk):
        yield lab
