"""The sampler of mutants and its probes: what is drawn, and which tests are chosen."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

from tests.mutation import probes
from tests.mutation.mutants import AREAS, DROPPED_CALLS, Mutant, described, dropped_filters, sample, source

MODULE = '''"""What the probes are planted in."""
from functools import cache

LIMIT = 5


def checked(value):
    """Return the value."""
    if value > LIMIT:
        return LIMIT
    elif value < 0:
        return 0
    try:
        return int(value)
    except ValueError:
        return -1


@cache
def remembered():
    return LIMIT
'''


def a_mutant(line: int, path: str = "apps/runs/limits.py") -> Mutant:
    return Mutant(path, DROPPED_CALLS, "", line, "", "")


def notes_of(tmp_path: Path, mutants: list[Mutant], calls: str) -> set[tuple[int, str]]:
    """Plant probes into the module, run `calls` in a process that a test starts, and return what was noted."""
    module = tmp_path / mutants[0].path
    module.parent.mkdir(parents=True)
    module.write_text(MODULE, encoding="utf-8")
    probes.plant(mutants, tmp_path)
    code = f"import sys; sys.path.insert(0, {str(module.parent)!r}); from limits import *; {calls}"
    env = os.environ | {"PYTHONPATH": str(tmp_path), "PYTEST_CURRENT_TEST": "tests/runs/test_limits.py::test_it (call)"}
    subprocess.run([sys.executable, "-c", code], env=env, check=True)
    lines = (tmp_path / probes.NOTES).read_text(encoding="utf-8").splitlines()
    return {(int(number), test) for number, _, test in (line.partition("\t") for line in lines)}


def test_a_sample_is_the_same_for_the_same_seed_and_takes_turns_in_the_areas() -> None:
    mutants = sample(2 * len(AREAS), 3)
    assert mutants == sample(2 * len(AREAS), 3)
    assert [mutant.area for mutant in mutants] == sorted(AREAS) * 2
    assert mutants != sample(2 * len(AREAS), 4)


def test_a_mutant_shows_the_lines_that_differ() -> None:
    path = "apps/plans/services.py"
    code = source(path).replace("@transaction.atomic\n", "", 1)
    mutant = described(path, "RemoveDecorator", code)
    assert mutant
    assert (mutant.before, mutant.after) == ("@transaction.atomic", "(nothing)")
    assert source(path).splitlines()[mutant.line - 1] == "@transaction.atomic"


def test_what_nobody_sees_is_no_mutant() -> None:
    path = "apps/comparison/side_by_side/table.py"
    assert described(path, "ReplaceFalseWithTrue", source(path).replace("gc=False", "gc=True", 1)) is None
    assert described(path, "AddNot", source(path) + "\n# a comment\n") is None
    path = "apps/agents/fields.py"
    code = source(path).replace("most: int, *, is_cut", "most: int, /, is_cut", 1)
    assert code != source(path)
    assert described(path, "ReplaceBinaryOperator_Mul_Div", code) is None


def test_a_dropped_filter_leaves_a_query_set() -> None:
    path = "apps/plans/forms.py"
    assert any("Study.objects.all()" in code for code in dropped_filters(path))


def test_a_probe_notes_the_test_that_executes_the_statement(tmp_path: Path) -> None:
    limit, negative, number, failed = a_mutant(10), a_mutant(11), a_mutant(14), a_mutant(16)
    noted = notes_of(tmp_path, [limit, negative, number, failed], "assert checked(3) == 3")
    # a branch of `elif` and an `except` are noted where their statement begins: nothing that depends on them is lost
    assert noted == {(n, "tests/runs/test_limits.py::test_it (call)") for n in (1, 2)}


def test_what_runs_on_import_or_is_remembered_is_noted_in_every_function(tmp_path: Path) -> None:
    tree = ast.parse(MODULE)
    assert [probes.place_of(tree, line).is_loose for line in (4, 7, 9, 20, 21)] == [True, False, False, True, True]
    noted = notes_of(tmp_path, [a_mutant(4), a_mutant(21)], "checked(9)")
    assert {number for number, _ in noted} == {0, 1}


def test_tests_are_chosen_nearest_first_and_without_those_that_fail_anyway(tmp_path: Path) -> None:
    near, far, broken = (
        "tests/runs/test_limits.py::test_b",
        "tests/api/test_a.py::test_a",
        "tests/runs/test_c.py::test_c",
    )
    shared = "tests/wiki/test_d.py::test_d"
    phases = [[near, "passed", 0.5], [near, "passed", 0.1], [far, "passed", 1.0], [broken, "failed", 1.0]]
    phases += [[broken, "passed", 0.1], [shared, "passed", 0.1]]
    (tmp_path / probes.DURATIONS).write_text("".join(json.dumps(phase) + "\n" for phase in phases), encoding="utf-8")
    marks = [
        f"0\t{far} (call)",
        f"0\t{near} (call)",
        f"0\t{broken} (call)",
        "0\ttests/wiki/test_d.py::test_first (setup)",
    ]
    (tmp_path / probes.NOTES).write_text("".join(f"{mark}\n" for mark in marks), encoding="utf-8")
    record = probes.read_record(tmp_path)
    assert record.failed == [broken]
    assert record.seconds[near] == 0.6
    assert record.tests_of(0, a_mutant(1)) == [near, far, shared]
    record.seconds[far] = probes.MOST_SECONDS
    assert record.tests_of(0, a_mutant(1)) == [near, shared]
