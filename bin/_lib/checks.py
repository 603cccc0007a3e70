"""`bin/test`: sets up what the checks need, runs them in order, and ends with one summary."""

import argparse
import os
import secrets
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from bin._lib import assets, browser, external, machine, migrated, packages, pytest_run, services, stages, translations
from bin._lib.console import Console, Trouble, fail
from bin._lib.layout import PYTHON, ROOT
from bin._lib.pytest_run import Counts
from bin._lib.up import Stopped, heed_signals

PRODUCTION = {
    "SPINDLE_URL": "https://spindle.example.org",
    "SPINDLE_ALLOWED_HOSTS": "spindle.example.org",
    "SPINDLE_PLAIN_STATIC": "",
    "SPINDLE_DEBUG": "",
}


@dataclass
class Result:
    title: str
    counts: Counts
    words: str
    seconds: float

    def __str__(self) -> str:
        return f"  {self.title:<72} {self.words}  ({self.seconds:.1f} s)"


@dataclass
class Checks:
    """Runs one check after the other and remembers how each ended."""

    env: dict[str, str]
    reports: Path
    results: list[Result] = field(default_factory=list)

    def tool(self, title: str, argv: Sequence[str], env: dict[str, str] | None = None) -> bool:
        """Run a program whose output only matters when it fails; return whether it went well."""
        with self.beside(title, argv, env):
            pass
        return not self.results[-1].counts.failed

    @contextmanager
    def beside(self, title: str, argv: Sequence[str], env: dict[str, str] | None = None) -> Iterator[None]:
        """Run a program on another core while the block does something else."""
        begin = time.monotonic()
        said = subprocess.PIPE
        with subprocess.Popen(
            argv, cwd=ROOT, env={**self.env, **(env or {})}, stdout=said, stderr=subprocess.STDOUT
        ) as child:
            try:
                yield
                output, _ = child.communicate()
            except BaseException:
                child.terminate()
                raise
        if child.returncode:
            print(output.decode(errors="replace"), flush=True)
        ok = child.returncode == 0
        self._add(title, Counts() if ok else Counts(failed=1), "ok" if ok else "FAILED", begin)

    def tests(self, title: str, arguments: Sequence[str], env: dict[str, str] | None = None) -> None:
        begin = time.monotonic()
        print(f"\n{title}:", flush=True)
        report = self.reports / f"{len(self.results)}.xml"
        counts = pytest_run.run(arguments, {**self.env, **(env or {})}, report)
        self._add(title, counts, str(counts) if counts != Counts() else "no such tests", begin)

    def skip(self, title: str, why: str) -> None:
        self._add(title, Counts(), f"left out: {why}", time.monotonic())

    def broken_off(self) -> None:
        self._add("the rest", Counts(failed=1), "NOT RUN, stopped before the end", time.monotonic())

    def _add(self, title: str, counts: Counts, words: str, begin: float) -> None:
        self.results.append(Result(title, counts, words, time.monotonic() - begin))
        print(str(self.results[-1]), flush=True)

    def total(self) -> Counts:
        return sum((result.counts for result in self.results), Counts())


def parse(argv: list[str]) -> tuple[argparse.Namespace, list[str]]:
    parser = argparse.ArgumentParser(
        prog="bin/test",
        description="Set up what the checks need and run them all; with arguments for pytest only those tests run.",
        usage="bin/test [--fast | --long] [arguments for pytest]",
        allow_abbrev=False,
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--fast", action="store_true", help=f"only the main tests, without those marked {stages.SLOW}")
    form.add_argument(
        "--long",
        action="store_true",
        help="all cases and all stages: also figures, external servers, every test of the running product, each fault 20 times",
    )
    return parser.parse_known_args(argv)


def main(argv: list[str]) -> int:
    options, for_pytest = parse(argv)
    heed_signals()
    begin = time.monotonic()
    try:
        with ready(long=options.long) as checks:
            try:
                run_all(checks, form_of(options), for_pytest)
            except BaseException:
                checks.broken_off()
                raise
            finally:
                summary(checks, time.monotonic() - begin)
        return 1 if checks.total().failed else 0
    except Trouble as trouble:
        return fail("bin/test", str(trouble))
    except Stopped:
        return fail("bin/test", "stopped before the end.")


def form_of(options: argparse.Namespace) -> str:
    """Return "fast", "long" or, with neither option, "usual"."""
    if options.fast:
        return "fast"
    return "long" if options.long else "usual"


@contextmanager
def ready(*, long: bool) -> Iterator[Checks]:
    """Prepare packages, assets, programs, and embedded servers in a folder that goes afterwards."""
    console = Console(7 if long else 6)
    machine.announce_lacking(console, tests=True)
    with console.step("Python packages") as step:
        packages.ensure("dev", step)
    with console.step("Browser assets") as step:
        assets.ensure(step)
    with console.step("Translations") as step:
        translations.ensure(step)
    with console.step("fio") as step:
        machine.ensure_fio(step)
    if long:
        with console.step("Filesystems' tools") as step:
            machine.ensure_mkfs(step)
    with console.step("Chromium") as step:
        chromium = browser.ensure(step)
    folder = Path(tempfile.mkdtemp(prefix="spindle-test-", dir="/tmp"))
    folder.chmod(0o755)  # the database's account passes through
    try:
        with ExitStack() as stack:
            with console.step("Embedded PostgreSQL and Valkey"):
                running = stack.enter_context(services.start_embedded(folder / "data", durable=False))
            env = {**os.environ, **running.environment(), "SPINDLE_DATA": str(folder / "data")}
            env.setdefault("SPINDLE_SECRET_KEY", secrets.token_urlsafe(64))
            env["PATH"] = f"{PYTHON.parent}:{env.get('PATH', '')}"
            # every worker of every stage, and each process that a test starts, would compile the product and the tests again
            env.pop("PYTHONDONTWRITEBYTECODE", None)
            env |= {"SPINDLE_CHROMIUM": chromium} if chromium else {}
            env |= {"SPINDLE_LONG": "1", "SPINDLE_KILLS": stages.KILLS} if long else {}
            yield Checks(env, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def run_all(checks: Checks, form: str, for_pytest: list[str]) -> None:
    embedded = "tests, embedded PostgreSQL and Valkey"
    if for_pytest:
        checks.tests(embedded, for_pytest)
        return
    python = str(PYTHON)
    checks.tool("ruff check", [python, "-m", "ruff", "check", "--output-format", "concise", "."])
    with checks.beside("mypy --strict", [python, "-m", "mypy"]):
        of_django(checks)
        if form != "fast":  # which has no test of them
            load_reports(checks)
    checks.tests(embedded, stages.everything(form))
    if form == "fast":
        return
    long = form == "long"
    checks.tests("the running product, from outside", stages.outside(long=long))
    checks.tests("faults", stages.faults(long=long))
    in_a_browser(checks, long=long)
    if long:
        on_external_servers(checks)
        checks.tests("figures, as ratios against a floor of the same run", stages.figures())
        checks.tests("mutants, which the tests must notice", stages.mutants())


def of_django(checks: Checks) -> None:
    """Run Django's own checks.

    The database that the migrations make is what every later stage copies.
    """
    manage = [str(PYTHON), "manage.py"]
    empty = migrated.create(checks.env["DATABASE_URL"])
    if checks.tool("migrations, from nothing to today", [*manage, "migrate", "--verbosity", "0"], empty):
        checks.env |= migrated.copied(empty)
    checks.tool("migrations match the models", [*manage, "makemigrations", "--check", "--dry-run"])
    deploy = [*manage, "check", "--deploy", "--fail-level", "WARNING"]
    checks.tool("manage.py check --deploy", deploy, {**PRODUCTION, "SPINDLE_SECRET_KEY": secrets.token_urlsafe(64)})


def load_reports(checks: Checks) -> None:
    """Load the five published reports, which many tests look at, into a database that workers copy."""
    if migrated.VARIABLE not in checks.env:
        return
    artefacts = checks.reports / "artefacts"
    url = checks.env["DATABASE_URL"]
    filled = migrated.create_for_reports(url, migrated.at(url, checks.env[migrated.VARIABLE]))
    code = f"from tests.studies.loading import fill; fill({str(artefacts)!r})"
    load = [str(PYTHON), "manage.py", "shell", "--no-imports", "--command", code]
    if checks.tool("published reports, into a database that tests copy", load, filled):
        checks.env |= migrated.with_reports(filled, artefacts)


def on_external_servers(checks: Checks) -> None:
    """Run the tests of SQL and broker again on other servers.

    Migrations run there in every worker: the server is another, and so may be what they do on it.
    """
    title = "tests of SQL, broker and bell again"
    try:
        with external.servers() as (found, env):
            env |= {"SPINDLE_KILLS": stages.AGAIN_KILLS, **migrated.without_copies()}
            checks.tests(f"{title}, {found}", stages.again(), env)
    except Trouble as trouble:
        checks.skip(title, str(trouble))


def in_a_browser(checks: Checks, *, long: bool) -> None:
    if "SPINDLE_CHROMIUM" in checks.env:
        checks.tests("tests in headless Chromium", stages.in_browser(long=long))
    else:
        checks.skip("tests in headless Chromium", "there is no Chromium")


def summary(checks: Checks, seconds: float) -> None:
    """Print how each check ended.

    The last line is for machines as well as people; a failed check other than a test counts as one failure.
    """
    print("\n" + "\n".join(str(result) for result in checks.results))
    failed = [result.title for result in checks.results if result.counts.failed]
    print(f"\n{'Failed: ' + '; '.join(failed) if failed else 'All is well.'}")
    print(f"{checks.total()} in {seconds:.0f} s", flush=True)
