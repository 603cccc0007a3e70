#!/usr/bin/env python3
"""Django's command line, aware of a running `bin/up` with the same data folder."""

import os
import sys
from pathlib import Path

from bin._lib import environment

WITHOUT_DATABASE = {
    "check",
    "collectstatic",
    "help",
    "makemigrations",
    "spectacular",
    "--help",
    "--version",
    "version",
    "diffsettings",
}


def needs_database(command: list[str]) -> bool:
    return bool(command) and command[0] not in WITHOUT_DATABASE


def main() -> None:
    """Take database and broker addresses from the data folder unless the environment names others."""
    data = Path(os.environ.get("SPINDLE_DATA") or Path(__file__).resolve().parent / "var")
    if "--data" in sys.argv:  # `./manage.py create_token --data DIR …` as with bin/up
        at = sys.argv.index("--data")
        data = Path(sys.argv[at + 1]).resolve()
        del sys.argv[at : at + 2]
    os.environ.setdefault("SPINDLE_DATA", str(data))
    environment.use_checkout_python()
    if "DATABASE_URL" not in os.environ:
        running = environment.load(data)
        if not running and needs_database(sys.argv[1:2]):
            sys.exit(f"manage.py: {environment.not_running(data)}")
        for name, value in running.items():
            os.environ.setdefault(name, value)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "apps.settings")
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
