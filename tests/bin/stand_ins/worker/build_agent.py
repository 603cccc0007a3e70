"""Stand-in for the agent: enrols by writing its identity, then says that it is online and waits."""

import sys
from pathlib import Path

PROGRAM = """
import pathlib, sys, time
state = pathlib.Path(sys.argv[sys.argv.index("--state") + 1])
if sys.argv[1] == "enrol":
    (state / "identity.json").write_text('{"agent": 7}')
else:
    (state / "online").touch()
    while True:
        time.sleep(1)
"""
Path(sys.argv[1]).write_text(PROGRAM)
