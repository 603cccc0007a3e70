"""Coverage-guided fuzzing of every reader of tool outputs that agents send.

    python -m tests.fuzz.atheris_discovery --seconds 600 [--tool storcli]

As `atheris_parsers`: a child for each tool, which begins with that tool's own texts; an exception other than
`UnreadableError`, or more than two seconds of processor time, is printed with the input in base64 and makes the exit status 1.
"""

import argparse
import base64
import os
import sys
import tempfile
import time
from pathlib import Path

import atheris

with atheris.instrument_imports(
    include=["apps.inventory.discovery", "apps.parsers.inventory"], enable_loader_override=False
):
    from apps.inventory.discovery.printed import UnreadableError
    from apps.inventory.discovery.tools import PARSERS

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "apps.settings")
django.setup()  # the texts stand beside hosts of the inventory

from tests.inventory.discovery_seeds import texts  # noqa: E402
from tests.pace import within  # noqa: E402

_LONGEST_INPUT = 1 << 14
_SLOWEST_S, _HANGS_S = 2.0, 10


def main() -> int:
    wanted = _arguments()
    chosen = [tool for tool in sorted(PARSERS) if wanted.tool in ("", tool)]
    limit = f"-runs={wanted.runs} -seed=1"  # the same inputs each time
    if not wanted.runs:
        limit = f"-max_total_time={max(1, round(wanted.seconds / max(1, len(chosen))))}"
    failed = [tool for tool in chosen if not _survives(tool, limit)]
    print(f"fuzzed {len(chosen)} tools, {limit[1:]} each; failed: {', '.join(failed) or 'none'}")
    return 1 if failed or not chosen else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--seconds", type=float, default=60, help="for all chosen tools together")
    parser.add_argument("--runs", type=int, default=0, help="of each tool, whatever time they take")
    parser.add_argument("--tool", default="", help="only this one")
    return parser.parse_args()


def _survives(tool: str, limit: str) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        for number, text in enumerate(texts(tool)):
            (Path(folder) / str(number)).write_bytes(text[:_LONGEST_INPUT])
        child = os.fork()
        if not child:
            _fuzz(tool, folder, limit)
            os._exit(1)  # not reached: libFuzzer ends the process
        return os.waitpid(child, 0)[1] == 0


def _fuzz(tool: str, folder: str, limit: str) -> None:
    flags = [
        *limit.split(), f"-max_len={_LONGEST_INPUT}", f"-timeout={_HANGS_S}", "-rss_limit_mb=0",
        f"-artifact_prefix={folder}/", "-verbosity=0", "-print_final_stats=0", folder,
    ]  # fmt: skip
    atheris.Setup([sys.argv[0], *flags], lambda data: _try(tool, data))
    atheris.Fuzz()


def _try(tool: str, data: bytes) -> None:
    before = time.process_time()
    try:
        try:
            PARSERS[tool](data.decode("utf-8", "replace"))
        except UnreadableError as error:
            assert ", expected " in str(error)  # noqa: PT017
        assert within(time.process_time() - before, _SLOWEST_S)
    except BaseException as error:
        print(f"{tool}: {type(error).__name__}: {error}\n  input: {base64.b64encode(data).decode()}", file=sys.stderr)
        raise


if __name__ == "__main__":
    sys.exit(main())
