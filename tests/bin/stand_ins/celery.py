"""Stand-in for `python -m celery …`: the real worker and beat take seconds to load (tests/docker starts those)."""

import sys
import time
from pathlib import Path

print(*sys.argv, flush=True)
if "inspect" in sys.argv:  # a worker that is asked whether it is there
    sys.exit()
if "--schedule" in sys.argv:
    Path(sys.argv[sys.argv.index("--schedule") + 1]).touch()
while True:
    time.sleep(60)
