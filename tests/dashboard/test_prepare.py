"""`manage.py prepare`: the first owner's password is shown once, so it is shown or there is no owner."""

import io
import json

import pytest
from django.core.management import call_command

from apps.dashboard.published import load
from apps.labs.models import Lab, User

pytestmark = pytest.mark.django_db


class FullDisk(io.StringIO):
    def write(self, text: str) -> int:
        raise OSError(28, "No space left on device")


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the published reports, which have tests of their own."""
    monkeypatch.setattr(load, "load_all", lambda: ["lab Published reports: made", "host vm: made"])


@pytest.mark.usefixtures("quick")
def test_the_password_is_the_last_line_and_is_said_once() -> None:
    said, again = io.StringIO(), io.StringIO()
    call_command("prepare", stdout=said)
    call_command("prepare", stdout=again)
    *_, lab, owner, password = said.getvalue().strip().split("\n")
    assert (lab, owner) == ("Lab: My lab", "Owner: owner@spindle.local")
    shown = password.removeprefix("Password, shown this once: ")
    assert User.objects.get().check_password(shown)
    assert "Password" not in again.getvalue()


@pytest.mark.usefixtures("quick")
def test_no_owner_is_left_whose_password_could_not_be_shown() -> None:
    with pytest.raises(OSError, match="No space left"):
        call_command("prepare", stdout=FullDisk())
    assert not User.objects.exists()


def test_a_start_that_was_stopped_while_reports_load_shows_the_password_the_next_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def stopped() -> list[str]:
        raise KeyboardInterrupt

    monkeypatch.setattr(load, "load_all", stopped)
    with pytest.raises(KeyboardInterrupt):
        call_command("prepare", "--json")
    assert not Lab.objects.exists()
    monkeypatch.setattr(load, "load_all", list)
    said = io.StringIO()
    call_command("prepare", "--json", stdout=said)
    given = json.loads(said.getvalue())
    assert given["password"]
    assert given["enrol_token"]
