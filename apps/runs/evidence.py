"""What was true when a run began: its snapshot, frozen once, and the facts taken from it."""

from apps.inventory.snapshots import freeze
from apps.runs.facts import run_facts
from apps.runs.models import Run


def freeze_for(run: Run) -> None:
    """Give the run its snapshot and facts, unless it has them. Editing the inventory later changes neither."""
    if run.snapshot_id or run.target is None:
        return
    run.snapshot = freeze(run.target)
    run.facts = run_facts(run)
    Run.objects.filter(pk=run.pk, snapshot=None).update(snapshot=run.snapshot, facts=run.facts)
