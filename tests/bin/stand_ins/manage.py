"""Stand-in for the project's commands: the same JSON, no Django."""

import json
import os
import sys
from pathlib import Path

data = Path(os.environ["SPINDLE_DATA"])
command, arguments = sys.argv[1], sys.argv[2:]
known = data / "stand-in.json"
state = json.loads(known.read_text()) if known.exists() else {}

if command == "prepare":
    first = not state
    state = state or {"run": None, "run_state": None}
    token = None if "--agent" in arguments else "one-use-token"
    password = "shown-once-only" if first else None
    changed = ["tables"] if first else []
    print(json.dumps({"lab": "a", "email": "a@b.c", "password": password, "enrol_token": token, "changed": changed}))
elif command == "demo":
    if "--start" in arguments:
        state = {"run": 1, "run_state": "queued", "progress": 0}
    elif state["run_state"] == "queued":
        state = {"run": 1, "run_state": "finished", "progress": 100}
    online = (data / "agent" / "online").exists()
    urls = {"overview": "/", "host": "/hosts/1/", "run": "/runs/1/" if state["run"] else None, "compare": "/compare/"}
    print(json.dumps({"host": 1, "host_online": online, "inventory": online, "urls": urls, **state}))
elif command == "collectstatic":
    (data / "static").mkdir(exist_ok=True)
elif command == "check":
    sys.exit(0)
known.write_text(json.dumps(state))
