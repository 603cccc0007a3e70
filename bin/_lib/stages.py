"""What `bin/test` gives to pytest, stage by stage.

Workers: three on two cores, for many tests wait: for agents, for faults to be noticed, for pages in the browser. Two where
each starts a whole product; none where figures are taken.
"""

from pathlib import Path

from bin._lib.layout import ROOT

TESTS = ROOT / "tests"
SLOW = "browser or benchmark or faults or fio or outside or mutation or slow or long"
OWN_STAGE = "browser or benchmark or faults or outside or mutation"
KILLS = "20"  # of each fault test in the long form
AGAIN_KILLS = "3"  # on external servers; the full count is done on the embedded ones


def everything(form: str) -> list[str]:
    """Return the arguments of the main stage.

    Args:
        form: "fast" (no slow test at all), "usual" (no test marked `long`) or "long" (all).
    """
    left_out = {"fast": SLOW, "usual": f"{OWN_STAGE} or long", "long": OWN_STAGE}[form]
    return ["-m", f"not ({left_out})", *workers(3)]


def faults(*, long: bool) -> list[str]:
    return ["-m", in_form("faults", long), *workers(3), *files_with("faults")]


def outside(*, long: bool) -> list[str]:
    """Return the arguments for tests against a real `bin/up`; each worker starts one and shares it among its tests.

    A file stays with one worker: the labs that its tests share are made once in a product.
    """
    return ["-m", in_form("outside", long), "-n", "2", "--dist", "loadfile", *files_with("outside")]


def again() -> list[str]:
    return ["-m", "services and not browser", *workers(2), *files_with("services")]


def in_browser(*, long: bool) -> list[str]:
    return ["-m", in_form("browser", long), *workers(3), *files_with("browser")]


def in_form(mark: str, long: bool) -> str:
    """Return the expression that selects a stage's tests: those marked `long` only in the long form."""
    return mark if long else f"{mark} and not long"


def figures() -> list[str]:
    """Return the arguments for figures, with `-s`, for they are what these tests print."""
    return ["-m", "benchmark", "-s", *files_with("benchmark")]


def mutants() -> list[str]:
    """Return the arguments for mutants, with `-s`, for the survivors are what these tests print.

    Each runs pytest by itself.
    """
    return ["-m", "mutation", "-s", *files_with("mutation")]


def workers(number: int) -> list[str]:
    """Return the options for several workers.

    Each gets neighbours, which share what a module sets up once, and the one that is done early takes from the others.
    """
    return ["-n", str(number), "--dist", "worksteal"]


def files_with(mark: str, tests: Path = TESTS) -> list[str]:
    """Return the files that spell the mark.

    To collect ten thousand tests for the sake of sixty takes longer than many a stage.

    `tests/conftest.py` sees to it that no test has such a mark from elsewhere.
    """
    return [str(path) for path in sorted(tests.rglob("test_*.py")) if f"mark.{mark}" in path.read_text()]
