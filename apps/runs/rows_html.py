"""Rows of a table of runs as HTML in one pass. A template with an include for each state and each time takes ten times as long as the
database; whatever came from people or files is escaped here.
"""

from collections.abc import Iterable
from datetime import UTC, datetime
from html import escape

from apps.lib import units
from apps.lib.addresses import numbered
from apps.runs.listing import Listed
from apps.runs.models import Run
from apps.runs.states import State

NONE = "–"
ELSEWHERE = ' <span class="chip chip-plain" title="From a published lab: everybody may read it, nobody here can change it">published</span>'
PRINTED_ONLY = "As its output says; it is nothing in the inventory"
STATES, ORIGINS = dict(State.choices), dict(Run.Origin.choices)
PAGES = ("run", "host", "target")


def rows(runs: Iterable[Listed], own_lab: int | None, *, ticks: bool) -> str:
    """The `<tr>`s. `ticks`: with a cell for a box, which runs of the reader's own lab have."""
    addresses = [numbered(page) for page in PAGES]
    return "".join([_row(run, run.lab_id == own_lab, ticks, *addresses) for run in runs])


def _row(run: Listed, is_own: bool, ticks: bool, own_page: str, host_page: str, target_page: str) -> str:
    machine, path = run.printed
    return (
        f"<tr>{_tick(run.pk, is_own) if ticks else ''}"
        f'<th scope="row"><a href="{own_page % run.pk}">{run.pk}</a></th>'
        f"<td>{_state(run)}</td>"
        f'<td class="wrap">{escape(run.tool)} {escape(run.tool_version.replace("fio-", ""))}</td>'
        f'<td class="wrap">{escape(run.operations) or NONE}</td>'
        f'<td class="wrap">{_link(host_page, run.host_id, run.host_name, machine)}{_elsewhere(run, is_own)}</td>'
        f'<td class="wrap">{_link(target_page, run.target_id, run.target_name, path)}</td>'
        f'<td class="num">{run.repetition}</td>'
        f'<td class="wrap origin">{_origin(run)}</td>'
        f"<td>{_time(run.created_at)}</td>"
        f'<td class="num">{units.elapsed(run.seconds)}</td></tr>\n'
    )


def _tick(key: int, is_own: bool) -> str:
    box = f'<input type="checkbox" class="form-check-input" name="run" value="{key}" aria-label="Choose run {key}">'
    return f'<td class="tick">{box if is_own else ""}</td>'


def _state(run: Listed) -> str:
    why = f' title="{escape(run.problem)}"' if run.problem else ""
    return f'<span class="chip chip-{escape(run.state)}"{why}>{escape(STATES.get(run.state, run.state))}</span>'


def _elsewhere(run: Listed, is_own: bool) -> str:
    """Unless its origin says so already."""
    return "" if is_own or run.origin == Run.Origin.PUBLISHED else ELSEWHERE


def _origin(run: Listed) -> str:
    """Who asked for it stands behind, unless that says the same again."""
    origin = ORIGINS.get(run.origin, run.origin)
    name = escape(run.created_by).replace("@", "@<wbr>")  # else an address breaks anywhere
    who = f' <span class="muted">{name}</span>' if run.created_by not in ("", origin) else ""
    return f"{escape(origin)}{who}"


def _link(page: str, key: int | None, name: str, printed: object) -> str:
    """To a row of the inventory; where there is none, what the tool's output says."""
    if key:
        return f'<a href="{page % key}">{escape(name)}</a>'
    return f'<span class="muted" title="{PRINTED_ONLY}">{escape(str(printed))}</span>' if printed else NONE


def _time(at: datetime) -> str:
    full = at.astimezone(UTC).isoformat()
    return f'<time datetime="{full}">{full[:10]} {full[11:16]} UTC</time>'
