"""Tests notice when the product is changed: at least nine of ten mutants that matter die. Only in `bin/test --long`.

Survivors are printed with their place. One that changes nothing that anybody can see goes into `harmless.txt` with the
reason, every other one wants a test. `CONTRIBUTING.md` tells the variables.
"""

import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from importlib.util import cache_from_source
from pathlib import Path
from queue import Empty, Queue
from urllib.parse import urlsplit

import pytest

from tests.mutation.mutants import ROOT, Mutant, sample
from tests.mutation.probes import DURATIONS, NOTES, Record, place_of_code, plant, read_record

pytestmark = pytest.mark.mutation

NUMBER = int(os.environ.get("SPINDLE_MUTANTS", "60"))
SEED = int(os.environ.get("SPINDLE_SEED", "1"))
PLACES = tuple(os.environ.get("SPINDLE_MUTANT_PLACES", "").split())  # how the wanted ones' places begin
TESTS = os.environ.get("SPINDLE_MUTANT_TESTS", "tests").split()
LANES = int(os.environ.get("SPINDLE_MUTANT_LANES", "2"))  # mutants at the same time
RECORD = os.environ.get("SPINDLE_MUTANT_RECORD", "")  # a folder that keeps which test executes what, for the next time
ENOUGH = 0.9
MOST_SECONDS = 1200.0  # a mutant that never ends is dead
MOST_BYTES = 12 << 30  # of addresses, so that one that fills memory dies before others do
NOT_COPIED = shutil.ignore_patterns(".git", ".venv", "var", "node_modules", "__pycache__", ".*_cache", ".hypothesis")
MARKS = "not (browser or faults or benchmark or outside or mutation or slow or long or fio)"
OF_THE_MACHINE = ("connection timeout expired", "server closed the connection", "Connection refused")
NOT_PASSED_ON = ("SPINDLE_LONG", "SPINDLE_SEED", "PYTEST_CURRENT_TEST")  # tests have their usual cases
WRONG_USE, NO_TESTS = 4, 5  # pytest's status
OWN_DATABASE, NEW_DATABASE = ("--reuse-db",), ("--reuse-db", "--create-db")


@dataclass(frozen=True)
class Lane:
    """A copy of the checkout with a database of its own, in which one mutant after the other is tried."""

    checkout: Path
    number: int

    def run_tests(self, arguments: list[str], most: float = MOST_SECONDS) -> "Done":
        """Run pytest in the checkout; nothing of it outlives this call."""
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
        with subprocess.Popen(
            command, cwd=self.checkout, env=self.environment, start_new_session=True, text=True,
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

    @property
    def environment(self) -> dict[str, str]:
        own = {name: value for name, value in os.environ.items() if name not in NOT_PASSED_ON}
        own["SPINDLE_REDIS_PREFIX"] = f"{own.get('SPINDLE_REDIS_PREFIX', 'spindle:')}lane{self.number}:"
        if url := own.get("DATABASE_URL"):
            parts = urlsplit(url)
            own["DATABASE_URL"] = parts._replace(path=f"{parts.path}_lane{self.number}").geturl()
        return own

    def try_out(self, mutant: Mutant, tests: list[str], database: Sequence[str]) -> "Done":
        """Run the tests on the changed checkout, once more where the machine and not the mutant let them fail."""
        path = self.checkout / mutant.path
        sound = path.read_text(encoding="utf-8")
        chosen = self.checkout / "mutation_tests.txt"
        write(path, mutant.code)
        try:
            for names in (tests, list(dict.fromkeys(test.partition("[")[0] for test in tests))):
                chosen.write_text("".join(f"{name}\n" for name in names), encoding="utf-8")
                done = self.run_tests([*database, "-x", "-m", MARKS, f"@{chosen}"])
                if any(words in done.output for words in OF_THE_MACHINE):
                    done = self.run_tests([*database, "-x", "-m", MARKS, f"@{chosen}"])
                if done.status != WRONG_USE:  # as where a case got another name
                    break
        finally:
            write(path, sound)
        assert done.status != NO_TESTS, f"no tests in {tests}:\n{done.output[-2000:]}"
        return done


@dataclass(frozen=True)
class Done:
    status: int | None  # None when it did not end in time
    output: str

    @property
    def outcome(self) -> str:
        return "endless" if self.status is None else "dead" if self.status else "alive"

    @property
    def failed(self) -> str:
        """Return the name of the test that noticed, empty where none did or none could be collected."""
        return match[1] if (match := re.search(r"^(?:FAILED|ERROR) (\S+)", self.output, re.MULTILINE)) else ""


@dataclass(frozen=True)
class Sound:
    """The product as it is, in copies that mutants are tried in, and which of its tests execute what they change."""

    lanes: list[Lane]
    mutants: list[Mutant]
    record: Record = field(repr=False)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Sound:
    folder = tmp_path_factory.mktemp("mutants")
    if (real_files := ROOT.parent / "shared").is_dir():  # which tests of parsers read beside the checkout
        (folder / "shared").symlink_to(real_files)
    lanes = [Lane(folder / f"checkout{number}", number) for number in range(LANES)]
    for lane in lanes:
        shutil.copytree(ROOT, lane.checkout, ignore=NOT_COPIED)
    drawn = sample(NUMBER, SEED)
    record = find_record(drawn, lanes[0])
    return Sound(lanes, [mutant for mutant in drawn if mutant.place.startswith(PLACES or "")], record)


def find_record(mutants: list[Mutant], lane: Lane) -> Record:
    """Return which tests execute what the mutants change, from a folder where an earlier run left it, or by testing."""
    names = (NOTES, DURATIONS)
    if RECORD and all((Path(RECORD) / name).exists() for name in names):
        return read_record(Path(RECORD))
    plant(mutants, lane.checkout)
    recorded = ["-p", "tests.mutation.recorder", "-n", str(LANES), "--dist", "worksteal"]
    done = lane.run_tests([*NEW_DATABASE, *recorded, "-m", MARKS, *TESTS], most=7200.0)
    print(done.output[-3000:], flush=True)
    for path in {mutant.path for mutant in mutants}:
        write(lane.checkout / path, (ROOT / path).read_text(encoding="utf-8"))
    if RECORD:
        Path(RECORD).mkdir(parents=True, exist_ok=True)
        for name in names:
            shutil.copy(lane.checkout / name, RECORD)
    return read_record(lane.checkout)


def write(path: Path, code: str) -> None:
    """Write a module, and let no compiled one of the same second and size be taken for it."""
    path.write_text(code, encoding="utf-8")
    Path(cache_from_source(str(path))).unlink(missing_ok=True)


def harmless() -> set[tuple[str, ...]]:
    lines = (Path(__file__).parent / "harmless.txt").read_text(encoding="utf-8").splitlines()
    return {tuple(line.split("\t")) for line in lines if line and not line.startswith("#")}


def test_the_sound_checkout_passes_so_that_a_failure_means_something(sound: Sound) -> None:
    assert not sound.record.failed
    assert sound.record.seconds


def test_nine_of_ten_mutants_die(sound: Sound) -> None:
    known = harmless()
    wanted = Queue[tuple[int, Mutant]]()
    for number, mutant in enumerate(sample(NUMBER, SEED)):
        if mutant in sound.mutants and (mutant.path, mutant.before, mutant.after) not in known:
            wanted.put((number, mutant))
    judged = wanted.qsize()
    with ThreadPoolExecutor(LANES) as pool:
        survivors = [str(mutant) for found in pool.map(partial(judge, sound, wanted), sound.lanes) for mutant in found]
    listed = "\n".join(survivors)
    assert len(survivors) <= (1 - ENOUGH) * judged, f"{len(survivors)} of {judged} survived:\n{listed}"


def judge(sound: Sound, wanted: "Queue[tuple[int, Mutant]]", lane: Lane) -> list[Mutant]:
    """Try one mutant after the other in a lane until none is left, and return those that no test noticed."""
    survivors = []
    database = NEW_DATABASE
    while True:
        try:
            number, mutant = wanted.get_nowait()
        except Empty:
            return survivors
        begin, done = time.monotonic(), Done(0, "")
        tests = sound.record.tests_of(number, mutant)
        for names in filter(None, [tests, mutant.tests if place_of_code(mutant).is_loose else []]):
            done = lane.try_out(mutant, names, database)
            database = NEW_DATABASE if done.outcome == "endless" else OWN_DATABASE
            if done.outcome != "alive":
                break
        if done.outcome == "alive":
            survivors.append(mutant)
        effort = f"{time.monotonic() - begin:.0f} s, {len(tests)} tests"
        print(f"{number + 1} {done.outcome} ({effort}) {mutant} {done.failed and f'by {done.failed}'}", flush=True)
