"""`bin/test` itself: what its last line counts."""

from pathlib import Path

import pytest

from bin._lib import pytest_run
from bin._lib.checks import Checks, form_of, parse, summary
from bin._lib.pytest_run import Counts


def test_counts_come_from_pytests_own_report(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    report.write_text('<testsuites><testsuite tests="7" failures="1" errors="1" skipped="2"/></testsuites>')
    assert pytest_run.read(report) == Counts(3, 2, 2)
    assert str(Counts(3, 2, 2)) == "3 passed, 2 failed, 2 skipped"


def test_a_failed_tool_counts_as_a_failure_and_is_named(tmp_path: Path) -> None:
    checks = Checks({}, tmp_path)
    checks.tool("a good tool", ["true"])
    checks.tool("a bad tool", ["false"])
    checks.skip("an absent server", "it does not answer")
    summary(checks, 1)
    assert checks.total() == Counts(0, 1, 0)


def test_the_summary_ends_with_the_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    checks = Checks({}, tmp_path)
    checks.tool("a bad tool", ["false"])
    summary(checks, 12)
    last = capsys.readouterr().out.strip().split("\n")
    assert last[-2:] == ["Failed: a bad tool", "0 passed, 1 failed, 0 skipped in 12 s"]


def test_arguments_for_pytest_pass_through() -> None:
    options, rest = parse(["--fast", "tests/bin", "-k", "port", "--lf"])
    assert options.fast
    assert rest == ["tests/bin", "-k", "port", "--lf"]


@pytest.mark.parametrize(("argv", "form"), [(["--fast"], "fast"), ([], "usual"), (["--long"], "long")])
def test_the_options_choose_a_form(argv: list[str], form: str) -> None:
    assert form_of(parse(argv)[0]) == form


def test_no_run_is_both_fast_and_long() -> None:
    with pytest.raises(SystemExit):
        parse(["--fast", "--long"])
