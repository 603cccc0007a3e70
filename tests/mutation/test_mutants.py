"""Tests notice when the product is changed: at least nine of ten mutants that matter die. Only in `bin/test --long`.

SPINDLE_MUTANTS=60 says how many, SPINDLE_SEED=1 which ones. Survivors are printed with their place; one that changes
nothing visible goes into `harmless.txt` with the reason, every other one wants a test.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.mutation.mutants import ROOT, Mutant, sample

pytestmark = pytest.mark.mutation

NUMBER = int(os.environ.get("SPINDLE_MUTANTS", "60"))
SEED = int(os.environ.get("SPINDLE_SEED", "1"))
ENOUGH = 0.9
MOST_SECONDS = 900.0  # for the tests of one area; a mutant that never ends is dead
NOT_COPIED = shutil.ignore_patterns(".git", ".venv", "var", "node_modules", "__pycache__", ".mypy_cache", ".ruff_cache")
MARKS = "not browser and not faults and not benchmark and not outside and not slow and not long and not fio"
NO_TESTS = 5  # pytest's status


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("mutants") / "checkout"
    shutil.copytree(ROOT, place, ignore=NOT_COPIED)
    return place


def harmless() -> set[tuple[str, ...]]:
    lines = (Path(__file__).parent / "harmless.txt").read_text(encoding="utf-8").splitlines()
    return {tuple(line.split("\t")) for line in lines if line and not line.startswith("#")}


def is_noticed(mutant: Mutant, checkout: Path) -> bool:
    """Run the tests of the mutant's area on the changed checkout and return whether one fails."""
    path = checkout / mutant.path
    sound = path.read_text(encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-m", MARKS, *mutant.tests]
    path.write_text(mutant.code, encoding="utf-8")
    try:
        done = subprocess.run(command, cwd=checkout, capture_output=True, text=True, timeout=MOST_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return True
    finally:
        path.write_text(sound, encoding="utf-8")
    assert done.returncode != NO_TESTS, f"no tests in {mutant.tests}"
    return done.returncode != 0


def test_the_sound_checkout_passes_so_that_a_failure_means_something(checkout: Path) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-m", MARKS, "tests/trends"]
    done = subprocess.run(command, cwd=checkout, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]


def test_nine_of_ten_mutants_die(checkout: Path) -> None:
    known = harmless()
    mutants = [mutant for mutant in sample(NUMBER, SEED) if (mutant.path, mutant.before, mutant.after) not in known]
    survivors = []
    for number, mutant in enumerate(mutants, start=1):
        if not is_noticed(mutant, checkout):
            survivors.append(str(mutant))
        print(f"{number}/{len(mutants)} {'alive' if survivors[-1:] == [str(mutant)] else 'dead '} {mutant}", flush=True)
    listed = "\n".join(survivors)
    assert len(survivors) <= (1 - ENOUGH) * len(mutants), f"{len(survivors)} of {len(mutants)} survived:\n{listed}"
