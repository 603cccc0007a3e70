#!/usr/bin/env python3
"""Django's command line, aware of a running `bin/up` with the same data folder."""

import argparse
import os
import sys
from pathlib import Path

from bin._lib import environment

WITHOUT_DATABASE = {
    "backup",  # starts the data folder's own where no bin/up does
    "check",
    "collectstatic",
    "help",
    "makemigrations",
    "restore",
    "spectacular",
    "--help",
    "--version",
    "version",
    "diffsettings",
}


def needs_database(arguments: list[str]) -> bool:
    return bool(arguments) and arguments[0] not in WITHOUT_DATABASE and not {"-h", "--help"} & set(arguments)


def data_folder() -> Path:
    """`./manage.py create_token --data DIR …` as with bin/up; taken away here, for it is no option of the command."""
    parser = argparse.ArgumentParser(prog="manage.py", add_help=False, allow_abbrev=False)
    parser.add_argument("--data", type=Path)
    known, sys.argv[1:] = parser.parse_known_args()
    default = os.environ.get("SPINDLE_DATA") or Path(__file__).resolve().parent / "var"
    return Path(known.data.resolve() if known.data else default)


def main() -> None:
    """Take database and broker addresses from the data folder unless the environment names others."""
    data = data_folder()
    os.environ.setdefault("SPINDLE_DATA", str(data))
    environment.use_checkout_python()
    if "DATABASE_URL" not in os.environ:
        running = environment.load(data)
        if not running and needs_database(sys.argv[1:]):
            sys.exit(f"manage.py: {environment.not_running(data)}")
        for name, value in running.items():
            os.environ.setdefault(name, value)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "apps.settings")
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
