"""The same lab, reports and script as in the tests of the REST interface."""

from tests.api.conftest import *  # noqa: F403
