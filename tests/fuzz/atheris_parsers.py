"""Coverage-guided fuzzing of every parser, and of what is taken off before they are asked.

    python -m tests.fuzz.atheris_parsers --seconds 600 [--format "bonnie++"] [--part 1/2]

`--seconds` is for all formats together; `--runs` in their place is how many inputs each gets. Each begins with its own
texts (`tests/parsers/seeds.py`) and runs in a child of its own; what it finds (an exception other than `ParseError`, a
result that is not sound, more than two seconds of processor time, more than 256 MiB) is printed with the input in
base64, and makes the exit status 1.
"""

import resource
import sys
import time
from collections.abc import Iterable

import atheris

with atheris.instrument_imports(include=["apps.parsers", "apps.inventory.discovery"], enable_loader_override=False):
    import apps.inventory.discovery.tools  # noqa: F401  registers what the inventory reads
    from apps.parsers.core.registry import Format, formats
    from apps.parsers.core.source_text import SourceText

    FORMATS = {one.name: one for one in formats()}  # here, because it imports them

from tests.fuzz.children import fuzz_all, options
from tests.pace import within
from tests.parsers.every import SLOWEST_S, faults, layer_faults, tried
from tests.parsers.seeds import seeds, wrapped

LAYERS = "layers"  # what is taken off before any format is asked
_MEMORY = 256 << 20


def main() -> int:
    parser = options(__doc__ or "", "formats")
    parser.add_argument("--format", default="", help="only this one")
    parser.add_argument("--part", default="1/1", help="2/3: the second of three shares of the formats")
    wanted = parser.parse_args()
    chosen = [name for name in (*FORMATS, LAYERS) if wanted.format in ("", name)]
    part, parts = map(int, wanted.part.split("/"))
    return fuzz_all(chosen[part - 1 :: parts], _texts, _attempt, wanted)


def _texts(name: str) -> Iterable[bytes]:
    return wrapped() if name == LAYERS else seeds(FORMATS[name])


def _attempt(name: str, data: bytes) -> None:
    before, peak = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    text = SourceText(data)
    found = layer_faults(text) if name == LAYERS else _faults(FORMATS[name], text)
    assert not found, found
    seconds = time.process_time() - before
    assert within(seconds, SLOWEST_S), f"{seconds:.1f} s"
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak) * 1024
    assert grown < _MEMORY, f"{grown >> 20} MiB"


def _faults(one: Format, text: SourceText) -> list[str]:
    parsed, _ = tried(one, text)
    return faults(parsed, text) if parsed else []


if __name__ == "__main__":
    sys.exit(main())
