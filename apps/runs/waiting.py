"""Hosts whose idle agent holds its poll open in this very process: a start can hand them the offer without a bell and without another
look at the database. A short cut only: who is not listed hears the bell, and an offer that was not heard is found by the next poll.
"""

from asyncio import Event
from collections.abc import Callable
from dataclasses import dataclass

from apps.lib.sql import Given
from apps.runs.attempts import Offer


@dataclass(frozen=True)
class Waiting:
    given: Given  # what must hold in the database for the host's agent to get an offer
    hear: Callable[[Offer], None]  # in the loop, or in a thread: there it returns when the poll is answered, or soon


waiting_here: dict[int, Waiting] = {}  # by host id
QUIET_S = 0.005  # after an accept: what else is to be done may be in the way of fio's first instructions, if the host is this machine
# By run id, starts that have not waited for the disk: set when the host's accept has, which in PostgreSQL's log comes after them.
accepts: dict[int, Event] = {}
