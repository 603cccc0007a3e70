"""What a run's machine was like the time before: the run before it on the same target, and what has changed since."""

from dataclasses import dataclass

from apps.inventory.differences_of import Change, differences_of
from apps.runs.models import Run


@dataclass(frozen=True)
class Since:
    """`changes` is empty where both runs have the same stack."""

    run: Run
    changes: list[Change]

    @property
    def of_machine(self) -> list[Change]:
        return [one for one in self.changes if not one.is_knowledge]

    @property
    def known(self) -> int:
        return len(self.changes) - len(self.of_machine)


def since_last(run: Run) -> Since | None:
    """One query, and none more for the contents; None for the first run on its target and for runs without a snapshot."""
    if not (run.snapshot_id and run.target_id and run.snapshot):
        return None
    earlier = Run.objects.filter(target=run.target_id, snapshot__isnull=False, pk__lt=run.pk)
    last = earlier.select_related("snapshot").order_by("-id").first()
    if last is None:
        return None
    is_same = last.snapshot_id == run.snapshot_id
    return Since(last, [] if is_same else differences_of(last.snapshot.content, run.snapshot.content))
