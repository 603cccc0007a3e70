"""Which host a file's results belong to, when nobody said so."""

import pytest

from apps.inventory.models import Host, Target
from apps.labs.models import Lab
from apps.uploads.host_matching import Guess, Guesser
from apps.uploads.models import UploadedFile
from tests.uploads.conftest import REPORT, Bring


@pytest.fixture
def guesser(bring: Bring, lab: Lab) -> Guesser:
    for name in ("host3", "db1.example.org"):
        Host.objects.create(lab=lab, name=name)
    Target.objects.create(lab=lab, host=Host.objects.get(name="host3"), name="raid", kind="directory", path="/mnt/raid")
    Target.objects.create(lab=lab, host=Host.objects.get(name="host3"), name="root", kind="directory", path="/")
    return Guesser(bring({"x.json": REPORT}, is_read=False))


def host(guess: Guess) -> str:
    return Host.objects.get(pk=guess.host_id).name if guess.host_id else ""


def test_a_name_that_stands_in_the_text(guesser: Guesser) -> None:
    found = guesser.guess("a.txt", ["HOST3"], [])
    assert (host(found), found.reason) == ("host3", "the text says HOST3")


def test_a_short_name_is_as_good_as_the_full_one(guesser: Guesser) -> None:
    assert host(guesser.guess("a.txt", ["db1"], [])) == "db1.example.org"


@pytest.mark.parametrize("name", ["a.txt", "host3.example.org/a.txt", "host3.example.org.txt"])
def test_a_full_name_finds_the_host_that_has_its_first_label(guesser: Guesser, name: str) -> None:
    printed = ["Host3.example.org"] if name == "a.txt" else []
    assert host(guesser.guess(name, printed, [])) == "host3"


@pytest.mark.parametrize("word", ["db1.example.net", "db2.example.org", "db7", "10.0.0.7"])
def test_a_name_that_fits_no_host_or_several_is_no_guess(guesser: Guesser, lab: Lab, word: str) -> None:
    for name in ("db7.example.org", "db7.example.net", "10"):
        Host.objects.create(lab=lab, name=name)
    assert guesser.guess("a.txt", [word], []) == Guess()
    assert guesser.guess(f"{word}/a.txt", [], []) == Guess()


def test_several_hosts_in_one_file_are_nobodys_guess(guesser: Guesser) -> None:
    assert guesser.guess("a.txt", ["host3", "db1"], []) == Guess()
    assert guesser.guess("host3/a.txt", ["10.0.0.7", "10.0.0.8"], []) == Guess()


@pytest.mark.parametrize("name", ["2009/host3/iozone.txt", "results/host3_iozone.txt", "iozone-host3.out"])
def test_a_name_in_the_path(guesser: Guesser, name: str) -> None:
    found = guesser.guess(name, [], [])
    assert (host(found), found.reason) == ("host3", "host3 is in the path")


def test_the_target_is_the_one_that_the_printed_path_lies_in(guesser: Guesser) -> None:
    found = guesser.guess("host3/a.txt", [], ["/mnt/raid/test.dat"])
    assert Target.objects.get(pk=found.target_id).name == "raid"
    elsewhere = guesser.guess("host3/a.txt", [], ["/mnt/raid2/test.dat"])
    assert Target.objects.get(pk=elsewhere.target_id).name == "root"


def test_what_somebody_chose_before_for_the_same_folder(guesser: Guesser, bring: Bring, lab: Lab) -> None:
    chosen = Host.objects.get(name="host3")
    upload = bring({"tuesday/one.json": REPORT}, keep_at_once=True)
    UploadedFile.objects.filter(upload=upload).update(host=chosen)
    found = guesser.guess("tuesday/two.json", [], [])
    assert (host(found), found.reason) == ("host3", "as tuesday/one.json before")


def test_what_somebody_chose_for_a_whole_upload_counts_as_well(guesser: Guesser, bring: Bring, lab: Lab) -> None:
    target = Target.objects.get(name="raid")
    bring({"tuesday/one.json": REPORT}, keep_at_once=True, host=target.host, target=target)
    found = guesser.guess("tuesday/two.json", [], [])
    assert found == Guess(target.host_id, target.pk, "as tuesday/one.json before")


def test_nothing_known_is_no_guess(guesser: Guesser) -> None:
    assert guesser.guess("a.txt", ["stranger"], ["/data"]) == Guess()


def test_another_labs_hosts_are_not_known(guesser: Guesser, cast: object) -> None:
    from apps.labs.isolation import lab_scope

    with lab_scope(cast.other_lab.pk):  # type: ignore[attr-defined]
        Host.objects.create(lab=cast.other_lab, name="secret")  # type: ignore[attr-defined]
    assert guesser.guess("secret/a.txt", ["secret"], []) == Guess()
