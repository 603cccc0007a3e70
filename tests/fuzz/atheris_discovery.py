"""Coverage-guided fuzzing of every reader of tool outputs that agents send.

    python -m tests.fuzz.atheris_discovery --seconds 600 [--tool storcli]

As `atheris_parsers`: a child for each tool, which begins with that tool's own texts; an exception other than
`UnreadableError`, or more than two seconds of processor time, is printed with the input in base64 and makes the exit status 1.
"""

import os
import sys
import time

import atheris

with atheris.instrument_imports(include=["apps.inventory.discovery"], enable_loader_override=False):
    from apps.inventory.discovery.readings import PARSERS
    from apps.inventory.discovery.tool_values import UnreadableError

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "apps.settings")
django.setup()  # the texts stand beside hosts of the inventory

from tests.fuzz.children import fuzz_all, options  # noqa: E402
from tests.inventory.discovery_seeds import texts  # noqa: E402
from tests.pace import within  # noqa: E402

_SLOWEST_S = 2.0


def main() -> int:
    parser = options(__doc__ or "", "tools")
    parser.add_argument("--tool", default="", help="only this one")
    wanted = parser.parse_args()
    return fuzz_all([tool for tool in sorted(PARSERS) if wanted.tool in ("", tool)], texts, _attempt, wanted)


def _attempt(tool: str, data: bytes) -> None:
    before = time.process_time()
    try:
        PARSERS[tool](data.decode("utf-8", "replace"))
    except UnreadableError as error:
        assert ", expected " in str(error)  # noqa: PT017
    assert within(time.process_time() - before, _SLOWEST_S)


if __name__ == "__main__":
    sys.exit(main())
