"""Where agent.pyz starts; `python3 worker run …` is the same from a checkout."""

import sys

if sys.argv[1:2] == ["runner"]:  # started by the agent, not by a person, and without what it does not need
    from agent.runner import main  # type: ignore[import-not-found]
else:
    from agent.main import main  # type: ignore[import-not-found]

sys.exit(main())
