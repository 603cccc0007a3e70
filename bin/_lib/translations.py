"""Compile the words of locale/*/LC_MESSAGES/django.po into django.mo, which Django reads, where they are not up to date.

    python -m bin._lib.translations

`bin/up`, `bin/test` and the image do it; `.mo` files are not committed.
"""

import os
from pathlib import Path

from bin._lib.console import Step, Trouble, run_logged
from bin._lib.layout import PYTHON, ROOT, SETUP

LOCALE = ROOT / "locale"
LOG = SETUP / "translations.log"


def sources() -> list[Path]:
    """Return the catalogues, one a language."""
    return sorted(LOCALE.glob("*/LC_MESSAGES/django.po"))


def stale() -> list[Path]:
    """Return the catalogues that were changed after they were compiled, or never compiled."""
    return [path for path in sources() if not is_fresh(path)]


def is_fresh(path: Path) -> bool:
    compiled = path.with_suffix(".mo")
    return compiled.exists() and compiled.stat().st_mtime >= path.stat().st_mtime


def ensure(step: Step) -> None:
    """Compile what is stale, with the environment's packages. Raise `Trouble` with the line of a catalogue that is wrong."""
    languages = [path.parts[-3] for path in stale()]
    if languages:
        status, last_lines = run_logged([str(PYTHON), "-m", "bin._lib.translations"], LOG, cwd=ROOT, step=step)
        if status:
            raise Trouble(f"The translations ({', '.join(languages)}) could not be compiled: {last_lines}")
    step.note = ", ".join(languages) or "already there"


def main() -> None:
    import polib  # in the environment, which set-up makes before

    for path in stale():
        half_written = path.with_suffix(f".mo.{os.getpid()}")
        polib.pofile(str(path)).save_as_mofile(str(half_written))
        os.replace(half_written, path.with_suffix(".mo"))


if __name__ == "__main__":
    main()
