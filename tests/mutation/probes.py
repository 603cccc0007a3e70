"""Which tests execute the statement that a mutant changes.

One run of the sound checkout answers it for all mutants: a probe before each such statement notes the test that passes
it. Probes write to a file, so that threads and processes that a test starts are seen too.
"""

import ast
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.mutation.mutants import Mutant, source

PROBE = "mutation_probe"  # the module that is planted in the checkout
NOTES, DURATIONS = "mutation_notes.txt", "mutation_durations.jsonl"
CACHED = ("cache", "lru_cache")  # only the first test executes the function, the others get what it returned
MOST_SECONDS = 120.0  # of tests for a mutant, as they took in the sound checkout
CODE = '''"""Note the test that passes a probe, once for each process."""
import os

_PATH = {path!r}
_SEEN = set()


def mark(number):
    test = os.environ.get("PYTEST_CURRENT_TEST")
    if test and (number, test) not in _SEEN:
        _SEEN.add((number, test))
        try:
            with open(_PATH, "a", encoding="utf-8") as marks:
                marks.write("%d\\t%s\\n" % (number, test))
        except OSError:
            pass  # a process that may not write
'''
Body = list[ast.stmt]


@dataclass
class Place:
    """Where the probes of a mutant go: before a statement, or at the beginning of each function of the module.

    `is_loose` says that the changed line runs when the module is imported, or is run once and then remembered: then no
    probe knows all tests that depend on it.
    """

    probes: list[tuple[Body, ast.stmt]]
    is_loose: bool


@dataclass
class Record:
    """What the run of the sound checkout showed."""

    seconds: dict[str, float] = field(default_factory=dict)  # of the tests that passed
    failed: list[str] = field(default_factory=list)
    called: dict[int, set[str]] = field(default_factory=lambda: defaultdict(set))  # mutant: tests
    set_up: dict[int, set[str]] = field(
        default_factory=lambda: defaultdict(set)
    )  # mutant: files of the fixtures' tests

    def tests_of(self, number: int, mutant: Mutant) -> list[str]:
        """Return the tests that execute what the mutant changes, nearest first, as many as take `MOST_SECONDS`.

        A fixture may be set up in one test and used in another, so all tests of that file belong to them, last.
        """
        called = [test for test in self.called[number] if test in self.seconds]
        around = [test for test in self.seconds if file_of(test) in self.set_up[number]]
        nearest = [*in_turn(called, mutant), *in_turn(around, mutant)]
        chosen, seconds = [], 0.0
        for test in dict.fromkeys(nearest):
            if chosen and seconds + self.seconds[test] > MOST_SECONDS:
                continue
            chosen.append(test)
            seconds += self.seconds[test]
        return chosen


def plant(mutants: list[Mutant], checkout: Path) -> None:
    """Put the probes of all mutants into the checkout."""
    (checkout / f"{PROBE}.py").write_text(CODE.format(path=str(checkout / NOTES)), encoding="utf-8")
    (checkout / NOTES).touch()
    for path in {mutant.path for mutant in mutants}:
        tree = ast.parse((checkout / path).read_text(encoding="utf-8"))
        places = {number: place_of(tree, mutant.line) for number, mutant in enumerate(mutants) if mutant.path == path}
        for number, place in places.items():
            for body, statement in place.probes:
                probe = ast.parse(f"__import__({PROBE!r}).mark({number})").body[0]
                body.insert(body.index(statement), probe)
        (checkout / path).write_text(ast.unparse(ast.fix_missing_locations(tree)), encoding="utf-8")


def place_of(tree: ast.Module, line: int) -> Place:
    """Return where a change of this line is noted."""
    body, statement, functions = innermost(tree, line)
    is_cached = any(name_of(decorator) in CACHED for function in functions for decorator in function.decorator_list)
    if functions and not is_cached and not isinstance(statement, ast.ClassDef):
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            body, statement = statement.body, beginning(statement)
        return Place([(body, statement)], is_loose=False)
    everywhere = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return Place([(node.body, beginning(node)) for node in everywhere], is_loose=True)


def place_of_code(mutant: Mutant) -> Place:
    return place_of(ast.parse(source(mutant.path)), mutant.line)


def innermost(
    tree: ast.Module, line: int
) -> tuple[Body, ast.stmt | None, list[ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Return the innermost statement at a line, the body it stands in, and the functions around it, itself included."""
    body: Body = tree.body
    statement, functions = None, []
    while inner := next(((b, s) for b in bodies_of(statement, tree) for s in b if covers(s, line)), None):
        body, statement = inner
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            functions.append(statement)
    return body, statement, functions


def bodies_of(statement: ast.stmt | None, tree: ast.Module) -> Iterator[Body]:
    for node in [tree] if statement is None else [statement, *handlers_of(statement)]:
        for name in ("body", "orelse", "finalbody"):
            if isinstance(body := getattr(node, name, None), list):
                yield body


def handlers_of(statement: ast.stmt) -> Iterable[ast.AST]:
    return [*getattr(statement, "handlers", []), *getattr(statement, "cases", [])]


def covers(statement: ast.stmt, line: int) -> bool:
    first = min([statement.lineno, *(node.lineno for node in getattr(statement, "decorator_list", []))])
    return first <= line <= (statement.end_lineno or first)


def beginning(function: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.stmt:
    """Return the first statement of a function that is not its docstring."""
    has_docstring = ast.get_docstring(function) is not None and len(function.body) > 1
    return function.body[1 if has_docstring else 0]


def name_of(decorator: ast.expr) -> str:
    node = decorator.func if isinstance(decorator, ast.Call) else decorator
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def read_record(checkout: Path) -> Record:
    """Return what the probes and `tests.mutation.recorder` wrote."""
    record = Record()
    for line in (checkout / DURATIONS).read_text(encoding="utf-8").splitlines():
        test, outcome, seconds = json.loads(line)
        if outcome == "failed":
            record.failed.append(test)
        elif outcome == "passed":
            record.seconds[test] = record.seconds.get(test, 0.0) + seconds
    for test in record.failed:
        record.seconds.pop(test, None)
    for line in (checkout / NOTES).read_text(encoding="utf-8").splitlines():
        number, _, rest = line.partition("\t")
        test, _, phase = rest.rpartition(" (")
        if phase == "call)":
            record.called[int(number)].add(test)
        else:
            record.set_up[int(number)].add(file_of(test))
    return record


def file_of(test: str) -> str:
    return test.partition("::")[0]


def in_turn(tests: Iterable[str], mutant: Mutant) -> list[str]:
    """Return the tests in order: the nearest files first, and of files as near one test each, then the second of each."""
    by_file: dict[str, list[str]] = defaultdict(list)
    for test in sorted(tests):
        by_file[file_of(test)].append(test)
    places = [
        (-nearness(name, mutant), place, name, test) for name, own in by_file.items() for place, test in enumerate(own)
    ]
    return [test for *_, test in sorted(places)]


def nearness(name: str, mutant: Mutant) -> int:
    """Return how many words the path of a test shares with the path of the mutant."""
    return len(words_of(name) & words_of(mutant.path)) + (name.split("/")[1] in mutant.area.split("/"))


def words_of(path: str) -> set[str]:
    return {word.rstrip("s") for part in Path(path).with_suffix("").parts for word in part.split("_")} - {"test", "app"}
