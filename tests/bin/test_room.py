"""What is looked at before anything starts."""

from pathlib import Path

import pytest

from bin._lib.console import Trouble
from bin._lib.environment import secret_key
from bin._lib.layout import DataFolder
from bin._lib.production import objections
from bin._lib.room import check_disk, free_port


def test_a_full_disk_is_named_with_the_way_out(tmp_path: Path) -> None:
    check_disk(tmp_path, least=1)
    with pytest.raises(
        Trouble, match=r"MiB free and Spindle needs .* MiB; make room, or name a folder on another disk"
    ):
        check_disk(tmp_path / "not" / "made" / "yet", least=2**60)


def test_an_address_of_another_machine_is_named() -> None:
    with pytest.raises(Trouble, match=r"192\.0\.2\.1 is not an address of this machine"):
        free_port("192.0.2.1", 8000)


def test_a_data_folder_that_is_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "var").write_text("")
    with pytest.raises(Trouble, match="is not a folder"):
        DataFolder(tmp_path / "var").create()


def test_a_secret_key_may_come_from_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "key").write_text("from-a-file\n")
    monkeypatch.setenv("SPINDLE_SECRET_KEY_FILE", str(tmp_path / "key"))
    monkeypatch.setenv("SPINDLE_SECRET_KEY", "from-the-environment")
    assert secret_key(DataFolder(tmp_path)) == "from-a-file"


def test_production_wants_https_a_long_secret_and_no_debugging() -> None:
    fit = {"SPINDLE_URL": "https://spindle.example.org", "SPINDLE_SECRET_KEY": "k" * 50}
    assert objections(fit) == []
    assert len(objections({"SPINDLE_URL": "http://x", "SPINDLE_SECRET_KEY": "short", "SPINDLE_DEBUG": "1"})) == 3
