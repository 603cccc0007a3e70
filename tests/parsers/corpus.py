"""Other people's real files: read where they lie, never copied. SPINDLE_CORPUS names the folder; it is looked for
beside the project too.
"""

import os
from pathlib import Path

import pytest

_BESIDE = Path(__file__).resolve().parents[3] / "shared" / "corpus"
CORPUS = Path(os.environ.get("SPINDLE_CORPUS", _BESIDE))


def folder(name: str) -> Path:
    """The folder of one format, or a skip that says what is missing."""
    if not (CORPUS / name).is_dir():
        pytest.skip(f"the corpus of real files is not here ({CORPUS / name})")
    return CORPUS / name
