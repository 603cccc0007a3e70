"""What `bin/test` gives to pytest, stage by stage.

Workers: two, one for each core; three in the browser, where each waits half a second on every page; none where figures
are taken. Fault tests wait too, but with patience for a host of two.
"""

from pathlib import Path

from bin._lib.layout import ROOT

TESTS = ROOT / "tests"
SLOW = "browser or benchmark or faults or fio"
AGAIN_KILLS = "3"  # on external servers; the full count is done on the embedded ones


def everything(*, fast: bool) -> list[str]:
    return ["-m", f"not ({SLOW})" if fast else "not browser and not faults and not benchmark", *workers(2)]


def faults() -> list[str]:
    return ["-m", "faults", *workers(2), *files_with("faults")]


def again() -> list[str]:
    return ["-m", "services and not browser", *workers(2), *files_with("services")]


def in_browser() -> list[str]:
    return ["-m", "browser", *workers(3), *files_with("browser")]


def figures() -> list[str]:
    """With `-s`, for they are what these tests print."""
    return ["-m", "benchmark", "-s", *files_with("benchmark")]


def workers(number: int) -> list[str]:
    """Each gets neighbours, which share what a module sets up once, and who is done early takes from the others."""
    return ["-n", str(number), "--dist", "worksteal"]


def files_with(mark: str, tests: Path = TESTS) -> list[str]:
    """The files that spell the mark: to collect ten thousand tests for the sake of sixty takes longer than many a stage.

    `tests/conftest.py` sees to it that no test has such a mark from elsewhere.
    """
    return [str(path) for path in sorted(tests.rglob("test_*.py")) if f"mark.{mark}" in path.read_text()]
