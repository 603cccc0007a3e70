"""What both commands of coverage-guided fuzzing share: their options, and a child of libFuzzer for each thing to fuzz."""

import argparse
import base64
import os
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

import atheris

_LONGEST_INPUT = 1 << 14
_HANGS_S = 10


def options(doc: str, what: str) -> argparse.ArgumentParser:
    """The options of a command whose docstring is `doc`, which fuzzes several `what` ("formats")."""
    parser = argparse.ArgumentParser(description=doc.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=60, help=f"for all chosen {what} together")
    parser.add_argument("--runs", type=int, default=0, help="of each, whatever time they take")
    return parser


def fuzz_all(
    names: Iterable[str],
    texts: Callable[[str], Iterable[bytes]],
    attempt: Callable[[str, bytes], None],
    wanted: argparse.Namespace,
) -> int:
    """The exit status after every name was fuzzed from its own `texts`: 1 if an `attempt` raised, or there was none.

    What raised is printed with its input in base64.
    """
    chosen = list(names)
    limit = f"-runs={wanted.runs} -seed=1"  # the same inputs each time
    if not wanted.runs:
        limit = f"-max_total_time={max(1, round(wanted.seconds / max(1, len(chosen))))}"
    failed = [name for name in chosen if not _survives(texts(name), limit, _told(name, attempt))]
    print(f"fuzzed {len(chosen)}, {limit[1:]} each; failed: {', '.join(failed) or 'none'}")
    return 1 if failed or not chosen else 0


def _survives(texts: Iterable[bytes], limit: str, attempt: Callable[[bytes], None]) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        for number, text in enumerate(texts):
            (Path(folder) / str(number)).write_bytes(text[:_LONGEST_INPUT])
        child = os.fork()
        if not child:
            _fuzz(folder, limit, attempt)
            os._exit(1)  # not reached: libFuzzer ends the process
        return os.waitpid(child, 0)[1] == 0


def _fuzz(folder: str, limit: str, attempt: Callable[[bytes], None]) -> None:
    flags = [
        *limit.split(), f"-max_len={_LONGEST_INPUT}", f"-timeout={_HANGS_S}", "-rss_limit_mb=0",
        f"-artifact_prefix={folder}/", "-verbosity=0", "-print_final_stats=0", folder,
    ]  # fmt: skip
    atheris.Setup([sys.argv[0], *flags], attempt)
    atheris.Fuzz()


def _told(name: str, attempt: Callable[[str, bytes], None]) -> Callable[[bytes], None]:
    def told(data: bytes) -> None:
        try:
            attempt(name, data)
        except BaseException as error:
            found = base64.b64encode(data).decode()
            print(f"{name}: {type(error).__name__}: {error}\n  input: {found}", file=sys.stderr)
            raise

    return told
