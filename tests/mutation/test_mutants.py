"""Tests notice when the product is changed: at least nine of ten mutants that matter die. Only in `bin/test --long`.

Survivors are printed with their place. One that changes nothing that anybody can see goes into `harmless.txt` with the
reason, every other one wants a test. `CONTRIBUTING.md` tells the variables.
"""

import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import cache_from_source
from pathlib import Path

import pytest

from tests.mutation.mutants import ROOT, Mutant, sample
from tests.mutation.probes import Record, place_of_code, plant, read_record

pytestmark = pytest.mark.mutation

NUMBER = int(os.environ.get("SPINDLE_MUTANTS", "60"))
SEED = int(os.environ.get("SPINDLE_SEED", "1"))
PLACES = tuple(os.environ.get("SPINDLE_MUTANT_PLACES", "").split())  # how the wanted ones' places begin
TESTS = os.environ.get("SPINDLE_MUTANT_TESTS", "tests").split()
WORKERS = os.environ.get("SPINDLE_MUTANT_WORKERS", "2")  # while the sound checkout is tested
ENOUGH = 0.9
MOST_SECONDS = 600.0  # a mutant that never ends is dead
MOST_BYTES = 12 << 30  # of addresses, so that one that fills memory dies before others do
NOT_COPIED = shutil.ignore_patterns(".git", ".venv", "var", "node_modules", "__pycache__", ".*_cache", ".hypothesis")
MARKS = "not (browser or faults or benchmark or outside or mutation or slow or long or fio)"
WRONG_USE, NO_TESTS = 4, 5  # pytest's status
OWN_DATABASE, NEW_DATABASE = ("--reuse-db",), ("--reuse-db", "--create-db")


@dataclass(frozen=True)
class Sound:
    """The product as it is, in a copy that mutants are tried in, and which of its tests execute what they change."""

    checkout: Path
    mutants: list[Mutant]
    record: Record


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Sound:
    checkout = tmp_path_factory.mktemp("mutants") / "checkout"
    shutil.copytree(ROOT, checkout, ignore=NOT_COPIED)
    mutants = [mutant for mutant in sample(NUMBER, SEED) if mutant.place.startswith(PLACES or "")]
    plant(mutants, checkout)
    recorded = ["-p", "tests.mutation.recorder", "-n", WORKERS, "--dist", "worksteal"]
    done = run_tests(checkout, [*NEW_DATABASE, *recorded, "-m", MARKS, *TESTS], most=7200.0)
    print(done.output[-3000:], flush=True)
    record = read_record(checkout)
    for path in {mutant.path for mutant in mutants}:
        write(checkout / path, (ROOT / path).read_text(encoding="utf-8"))
    return Sound(checkout, mutants, record)


@dataclass(frozen=True)
class Done:
    status: int | None  # None when it did not end in time
    output: str


def run_tests(checkout: Path, arguments: list[str], most: float = MOST_SECONDS) -> Done:
    """Run pytest in the checkout; nothing of it outlives this call."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    env = {name: value for name, value in os.environ.items() if name not in ("SPINDLE_LONG", "PYTEST_CURRENT_TEST")}
    with subprocess.Popen(
        command, cwd=checkout, env=env, start_new_session=True, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES)),
    ) as process:  # fmt: skip
        try:
            output, _ = process.communicate(timeout=most)
        except subprocess.TimeoutExpired:
            for number in (signal.SIGTERM, signal.SIGKILL):  # servers that tests started obey the first one
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, number)
                time.sleep(5)
            return Done(None, process.communicate()[0])
    return Done(process.returncode, output)


def write(path: Path, code: str) -> None:
    """Write a module, and let no compiled one of the same second and size be taken for it."""
    path.write_text(code, encoding="utf-8")
    Path(cache_from_source(str(path))).unlink(missing_ok=True)


def try_out(mutant: Mutant, tests: list[str], checkout: Path, database: Sequence[str]) -> str:
    """Run the tests on the changed checkout and return "dead", "alive" or "endless"."""
    path = checkout / mutant.path
    sound = path.read_text(encoding="utf-8")
    chosen = checkout / "mutation_tests.txt"
    write(path, mutant.code)
    try:
        for names in (tests, list(dict.fromkeys(test.partition("[")[0] for test in tests))):
            chosen.write_text("".join(f"{name}\n" for name in names), encoding="utf-8")
            done = run_tests(checkout, [*database, "-x", "-m", MARKS, f"@{chosen}"])
            if done.status != WRONG_USE:  # as where a case got another name
                break
    finally:
        write(path, sound)
    assert done.status != NO_TESTS, f"no tests in {tests}:\n{done.output[-2000:]}"
    if os.environ.get("SPINDLE_MUTANT_OUTPUT"):
        print(done.output[-3000:], flush=True)
    return "endless" if done.status is None else "dead" if done.status else "alive"


def harmless() -> set[tuple[str, ...]]:
    lines = (Path(__file__).parent / "harmless.txt").read_text(encoding="utf-8").splitlines()
    return {tuple(line.split("\t")) for line in lines if line and not line.startswith("#")}


def test_the_sound_checkout_passes_so_that_a_failure_means_something(sound: Sound) -> None:
    assert not sound.record.failed
    assert sound.record.seconds


def test_nine_of_ten_mutants_die(sound: Sound) -> None:
    known = harmless()
    survivors = []
    judged = 0
    database = NEW_DATABASE
    for number, mutant in enumerate(sound.mutants):
        if (mutant.path, mutant.before, mutant.after) in known:
            continue
        judged += 1
        tests = sound.record.tests_of(number, mutant)
        begin = time.monotonic()
        for names in filter(None, [tests, mutant.tests if place_of_code(mutant).is_loose else []]):
            outcome = try_out(mutant, names, sound.checkout, database)
            database = NEW_DATABASE if outcome == "endless" else OWN_DATABASE
            if outcome != "alive":
                break
        else:
            outcome = "alive"
            survivors.append(str(mutant))
        seconds = time.monotonic() - begin
        print(f"{number + 1}/{len(sound.mutants)} {outcome} {seconds:3.0f} s {len(tests):4} tests {mutant}", flush=True)
    listed = "\n".join(survivors)
    assert len(survivors) <= (1 - ENOUGH) * judged, f"{len(survivors)} of {judged} survived:\n{listed}"
