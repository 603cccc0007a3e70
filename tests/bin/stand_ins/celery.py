"""Stand-in for `python -m celery …`: the real worker and beat take seconds to load (tests/docker starts those)."""

import sys
import time

print(*sys.argv, flush=True)
while True:
    time.sleep(60)
