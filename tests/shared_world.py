"""What the tests of a module share: made once, in a transaction around all of them that is taken back after the last.

Each test gets copies of the objects, and what it changes in the database is taken back after it. A test that commits
(`django_db(transaction=True)`) cannot be inside of a transaction: it belongs to another module.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction
from django.test import override_settings
from django.utils import timezone

from apps.agents.models import Agent
from apps.labs.isolation import lab_scope
from apps.labs.models import Lab
from tests.conftest import Cast
from tests.dashboard import world
from tests.people import make_cast


@contextmanager
def around_a_module(blocker: Any) -> Iterator[None]:
    """Keep a transaction open; `blocker` is pytest-django's, which guards the database outside of tests."""
    around = transaction.atomic()
    with blocker.unblock():
        around.__enter__()
    try:
        yield
    finally:
        with blocker.unblock():
            transaction.set_rollback(True)
            around.__exit__(None, None, None)


@dataclass(frozen=True)
class FurnishedLab:
    cast: Cast
    world: world.World
    artefacts: Path


@pytest.fixture(scope="module")
def furnished_lab(
    django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[FurnishedLab]:
    """The people, a host with its agent, a finished run and a queued one."""
    artefacts = tmp_path_factory.mktemp("furnished")
    with around_a_module(django_db_blocker):
        with django_db_blocker.unblock(), override_settings(ARTEFACT_DIR=artefacts):
            cast = make_cast()
            with lab_scope(cast.lab.pk):
                furnished = world.furnish(cast.lab)
        yield FurnishedLab(cast, furnished, artefacts)


@pytest.fixture
def furnished_copy(furnished_lab: FurnishedLab, db: None, tmp_path: Path) -> FurnishedLab:
    folder = tmp_path / "furnished"
    shutil.copytree(furnished_lab.artefacts, folder)
    cast, furnished = deepcopy((furnished_lab.cast, furnished_lab.world))
    return FurnishedLab(cast, furnished, folder)


@pytest.fixture
def cast(furnished_copy: FurnishedLab) -> Cast:
    return furnished_copy.cast


@pytest.fixture
def furnished(furnished_copy: FurnishedLab, lab: Lab, settings: Any) -> world.World:
    """Inside the lab's scope; the agent was seen three seconds ago."""
    settings.ARTEFACT_DIR = furnished_copy.artefacts
    agent = furnished_copy.world.agent
    agent.last_seen_at = timezone.now() - timedelta(seconds=3)
    Agent.objects.filter(pk=agent.pk).update(last_seen_at=agent.last_seen_at)
    return furnished_copy.world
