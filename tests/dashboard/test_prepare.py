"""`manage.py prepare`: the first owner's password is shown once, so it is shown or there is no owner."""

import io
import json

import pytest
from django.core.management import CommandError, call_command

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
def test_the_first_lab_has_the_name_and_owner_that_are_asked_for_and_keeps_them() -> None:
    call_command("prepare", "--lab", " Лаборатория  1 ", "--owner", "Ada@Example.org", stdout=io.StringIO())
    call_command("prepare", "--lab", "Another", "--owner", "bob@example.org", stdout=io.StringIO())
    assert [(lab.name, lab.slug) for lab in Lab.objects.filter(is_published=False)] == [("Лаборатория 1", "1")]
    assert [user.email for user in User.objects.all()] == ["ada@example.org"]


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("options", [("--lab", " "), ("--lab", "x" * 121), ("--owner", "nobody")])
def test_a_first_lab_that_cannot_be_made_is_told_in_a_sentence(options: tuple[str, str]) -> None:
    with pytest.raises(CommandError, match=r"needs a name|121 characters|e-mail address"):
        call_command("prepare", *options, stdout=io.StringIO())
    assert not Lab.objects.filter(is_published=False).exists()


@pytest.mark.usefixtures("quick")
def test_no_owner_is_left_whose_password_could_not_be_shown() -> None:
    with pytest.raises(OSError, match="No space left"):
        call_command("prepare", stdout=FullDisk())
    assert not User.objects.exists()


@pytest.mark.slow
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
