"""Stand-in for `python -m celery …`: the real worker and beat take seconds to load (tests/docker starts those)."""

import sys
import time
from pathlib import Path

print(*sys.argv, flush=True)
if "inspect" in sys.argv:  # workers that are asked whether they are there
    for node in sys.argv[sys.argv.index("--destination") + 1].split(","):
        print(f"->  {node}: OK\n        pong")
    sys.exit()
if "--schedule" in sys.argv:
    Path(sys.argv[sys.argv.index("--schedule") + 1]).touch()
while True:
    time.sleep(60)
