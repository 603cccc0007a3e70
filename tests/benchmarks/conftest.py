from tests.agent.conftest import *  # noqa: F403  (the in-memory server and the built agent)
