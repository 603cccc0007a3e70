"""`./manage.py` as a person types it, beside no database at all."""

import subprocess
from pathlib import Path

import pytest

from bin._lib.layout import PYTHON, ROOT
from tests.bin.launcher import clean_environment

OTHERS = ("import_results", "reparse", "export_inventory", "import_inventory")


def manage(*arguments: str) -> subprocess.CompletedProcess[str]:
    words = [str(PYTHON), str(ROOT / "manage.py"), *arguments]
    return subprocess.run(words, capture_output=True, text=True, check=False, env=clean_environment(), timeout=60)


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    ["create_token", *(pytest.param(name, marks=pytest.mark.long) for name in OTHERS)],
)
def test_help_needs_no_database_and_names_the_data_folder(command: str, tmp_path: Path) -> None:
    done = manage(command, "--help", "--data", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "--data DIR" in done.stdout


@pytest.mark.parametrize("spelt", ["--data {}", "--data={}"])
def test_without_a_running_bin_up_the_folder_that_was_named_is_said(spelt: str, tmp_path: Path) -> None:
    done = manage("create_token", "--lab", "a", "--scope", "read", *spelt.format(tmp_path).split())
    assert done.returncode == 1
    assert done.stderr.startswith(f"manage.py: No database to talk to: no bin/up runs with the data folder {tmp_path}.")


def test_a_data_folder_without_a_name_is_refused() -> None:
    done = manage("create_token", "--data")
    assert done.returncode == 2
    assert "argument --data: expected one argument" in done.stderr
