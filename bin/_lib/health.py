"""Health checks, for `bin/up` while it waits and for docker-compose.yml.

python -m bin._lib.health web PORT     the pages answer
python -m bin._lib.health beat FILE    the schedule was written in the last ten minutes
"""

import http.client
import sys
import time
from pathlib import Path

PATH = "/healthz"
FRESH = 600  # seconds; beat writes its schedule every three minutes
WELL = (200, 301, 308)  # with an https address a plain request is sent there, and that is an answer


def web_status(host: str, port: int) -> int | None:
    """Return the HTTP status of the health page, None when nothing answers. Redirects are not followed and no proxy is asked."""
    return ask_web(host, port)[0]


def ask_web(host: str, port: int) -> tuple[int | None, str]:
    """Return the status of the health check with the word of the web process that has answered."""
    connection = http.client.HTTPConnection(host, port, timeout=5)
    try:
        connection.request("GET", PATH, headers={"Host": "127.0.0.1"})
        answer = connection.getresponse()
        return answer.status, answer.getheader("X-Spindle-Process", "")
    except (OSError, http.client.HTTPException):
        return None, ""
    finally:
        connection.close()


def schedule_is_fresh(schedule: Path) -> bool:
    """Return whether the schedule was written lately; Python's dbm adds endings of its own to the name."""
    written = [file.stat().st_mtime for file in schedule.parent.glob(f"{schedule.name}*")]
    return bool(written) and time.time() - max(written) < FRESH


def main(what: str, argument: str) -> int:
    well = web_status("127.0.0.1", int(argument)) in WELL if what == "web" else schedule_is_fresh(Path(argument))
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
