"""Runs into a study: each into the configuration that was chosen, or into one for each target or host.

place(runs, study, configuration) -> Placed     configuration None: by the runs' targets, made where missing
"""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction

from apps.runs.models import Run
from apps.studies.editing.forms import free_name
from apps.studies.models import Configuration, Study, StudyRun

MOST_RUNS = 1000


@dataclass(frozen=True)
class Placed:
    """How many runs were put, how many of them were taken out of another place, and the configurations that were made."""

    runs: int
    moved: int
    made: tuple[str, ...]

    @property
    def sentence(self) -> str:
        said = [f"{self.runs} run{'' if self.runs == 1 else 's'} put into the study"]
        if self.moved:
            said.append(f"{self.moved} of them moved from another place")
        if self.made:
            said.append(f"configurations made: {', '.join(self.made)}")
        return "; ".join(said) + "."


def place(runs: Sequence[Run], study: Study, configuration: Configuration | None = None) -> Placed:
    """`runs` with host and target. Doing it again changes nothing."""
    with transaction.atomic():
        Study.objects.select_for_update().get(pk=study.pk)  # two people who put runs make one column, not two
        before = dict(StudyRun.objects.filter(run__in=runs).values_list("run_id", "configuration_id"))
        columns = _Columns(study)
        wanted = {run.pk: configuration or columns.of(run) for run in runs}
        changed = [run for run in runs if before.get(run.pk) != wanted[run.pk].pk]
        for run in changed:  # one by one, because claims hear of each row that is written
            StudyRun.objects.update_or_create(run=run, defaults={"configuration": wanted[run.pk]})
    return Placed(len(changed), sum(run.pk in before for run in changed), tuple(columns.made))


class _Columns:
    """A study's configurations by what runs say; those that are missing are made."""

    def __init__(self, study: Study) -> None:
        self.study, self.made = study, list[str]()
        self.known = list(study.configurations.all())

    def of(self, run: Run) -> Configuration:
        label = _label(run)
        found = next((one for one in self.known if one.label.lower() == label.lower()), None)
        found = found or next((one for one in self.known if run.target_id and one.target_id == run.target_id), None)
        return found or self._make(run, label)

    def _make(self, run: Run, label: str) -> Configuration:
        row: Configuration = Configuration.objects.create(
            study=self.study, name=free_name(self.study, label), label=label, position=len(self.known),
            host=run.host, target=run.target,
        )  # fmt: skip
        self.known.append(row)
        self.made.append(label)
        return row


def _label(run: Run) -> str:
    """As uploads name their columns: by a label of that name, else by target or host."""
    told = run.labels.get("configuration") or (run.target and run.target.name) or (run.host and run.host.name)
    return str(told or run.labels.get("machine") or run.labels.get("caption") or run.tool)[:200]
