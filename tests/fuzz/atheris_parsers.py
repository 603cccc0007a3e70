"""Coverage-guided fuzzing of every parser.

    python -m tests.fuzz.atheris_parsers --seconds 600 [--format "bonnie++"] [--part 1/2]

`--seconds` is for all formats together; `--runs` in their place is how many inputs each gets. Each begins with its own
texts (`tests/parsers/seeds.py`) and runs in a child of its own; what it finds (an exception other than `ParseError`, a
result that is not sound, more than two seconds of processor time, more than 256 MiB) is printed with the input in
base64, and makes the exit status 1.
"""

import argparse
import base64
import os
import resource
import sys
import tempfile
import time
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["apps.parsers"], enable_loader_override=False):
    from apps.parsers.registry import Format, formats
    from apps.parsers.source_text import SourceText

    FORMATS = formats()  # here, because it imports them

from tests.pace import within
from tests.parsers.every import SLOWEST_S, faults, tried
from tests.parsers.seeds import seeds

_LONGEST_INPUT = 1 << 14
_MEMORY = 256 << 20
_HANGS_S = 10


def main() -> int:
    wanted = _arguments()
    chosen = [one for one in FORMATS if wanted.format in ("", one.name)]
    part, parts = map(int, wanted.part.split("/"))
    chosen = chosen[part - 1 :: parts]
    limit = f"-runs={wanted.runs} -seed=1"  # the same inputs each time
    if not wanted.runs:
        limit = f"-max_total_time={max(1, round(wanted.seconds / len(chosen)))}"
    failed = [one.name for one in chosen if not _survives(one, limit)]
    print(f"fuzzed {len(chosen)} formats, {limit[1:]} each; failed: {', '.join(failed) or 'none'}")
    return 1 if failed or not chosen else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--seconds", type=float, default=60, help="for all chosen formats together")
    parser.add_argument("--runs", type=int, default=0, help="of each format, whatever time they take")
    parser.add_argument("--format", default="", help="only this one")
    parser.add_argument("--part", default="1/1", help="2/3: the second of three shares of the formats")
    return parser.parse_args()


def _survives(one: Format, limit: str) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        for number, text in enumerate(seeds(one)):
            (Path(folder) / str(number)).write_bytes(text[:_LONGEST_INPUT])
        child = os.fork()
        if not child:
            _fuzz(one, folder, limit)
            os._exit(1)  # not reached: libFuzzer ends the process
        return os.waitpid(child, 0)[1] == 0


def _fuzz(one: Format, folder: str, limit: str) -> None:
    flags = [
        *limit.split(), f"-max_len={_LONGEST_INPUT}", f"-timeout={_HANGS_S}", "-rss_limit_mb=0",
        f"-artifact_prefix={folder}/", "-verbosity=0", "-print_final_stats=0", folder,
    ]  # fmt: skip
    atheris.Setup([sys.argv[0], *flags], lambda data: _try(one, data))
    atheris.Fuzz()


def _try(one: Format, data: bytes) -> None:
    before, peak = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        text = SourceText(data)
        parsed, _ = tried(one, text)
        found = faults(parsed, text) if parsed else []
        assert not found, found
        seconds = time.process_time() - before
        assert within(seconds, SLOWEST_S), f"{seconds:.1f} s"
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak) * 1024
        assert grown < _MEMORY, f"{grown >> 20} MiB"
    except BaseException as error:
        print(
            f"{one.name}: {type(error).__name__}: {error}\n  input: {base64.b64encode(data).decode()}", file=sys.stderr
        )
        raise


if __name__ == "__main__":
    sys.exit(main())
