"""Runs into a study: each into the configuration that was chosen, or into one for each target or host.

place(runs, study, configuration) -> Placed     configuration None: by the runs' labels and targets, made where missing
columns_of(study).of(run) -> Configuration      the one of a run that is not put yet
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from django.db import transaction

from apps.inventory.models import Host, Target
from apps.labs.models import AuditEvent, Lab
from apps.runs.models import Run
from apps.studies.forms import free_name
from apps.studies.models import Configuration, Study, StudyRun

MOST_RUNS = 1000
LONGEST_LABEL = 200


class Placeable(Protocol):
    """A run, or what becomes one."""

    tool: str
    labels: dict[str, str]

    @property
    def host(self) -> Host | None: ...

    @property
    def target(self) -> Target | None: ...


@dataclass(frozen=True)
class Placed:
    """How many runs were put, how many of them were taken out of another place, and the configurations that were made."""

    runs: int
    moved: int
    made: tuple[str, ...]

    @property
    def sentence(self) -> str:
        sentences = [f"{self.runs} run{'' if self.runs == 1 else 's'} put into the study"]
        if self.moved:
            sentences.append(f"{self.moved} of them moved from another place")
        if self.made:
            sentences.append(f"configurations made: {', '.join(self.made)}")
        return "; ".join(sentences) + "."


def place(runs: Sequence[Run], study: Study, configuration: Configuration | None = None) -> Placed:
    """Place runs with host and target in a study and return what was done.

    Doing it again changes nothing; runs that were reverted meanwhile are left out.
    """
    with transaction.atomic():
        columns = columns_of(study)
        runs = still_there(runs)
        before = dict(StudyRun.objects.filter(run__in=runs).values_list("run_id", "configuration_id"))
        wanted = {run.pk: configuration or columns.of(run) for run in runs}
        changed = [run for run in runs if before.get(run.pk) != wanted[run.pk].pk]
        for run in changed:  # one by one, because claims hear of each row that is written
            StudyRun.objects.update_or_create(run=run, defaults={"configuration": wanted[run.pk]})
    return Placed(len(changed), sum(run.pk in before for run in changed), tuple(columns.made))


class StudyChoices:
    """The lab's studies and configurations, as the form that starts runs offers them."""

    def choices(self, lab: Lab) -> list[tuple[str, str | list[tuple[str, str]]]]:
        """Return each study with its configurations: `study-3`, by target, and `configuration-7`, into this one."""
        studies = Study.objects.filter(lab=lab).prefetch_related("configurations")
        return [(str(study), choices_of(study)) for study in studies]

    def place(self, lab: Lab, choice: str, runs: Sequence[Run], actor: str) -> None:
        """Place the runs where the choice says, and write it into the audit trail."""
        place_audited(lab, runs, *find_choice(lab, choice), actor)


def choices_of(study: Study) -> list[tuple[str, str]]:
    columns = [
        (f"configuration-{configuration.pk}", configuration.label) for configuration in study.configurations.all()
    ]
    return [(f"study-{study.pk}", "a configuration for each target"), *columns]


def find_choice(lab: Lab, choice: str) -> tuple[Study, Configuration | None]:
    """Return the lab's study, and the configuration if one is chosen. Raises `DoesNotExist` where they are gone."""
    kind, _, pk = choice.partition("-")
    if kind == "configuration":
        row = Configuration.objects.select_related("study").get(pk=pk, study__lab=lab)
        return row.study, row
    return Study.objects.get(pk=pk, lab=lab), None


def place_audited(
    lab: Lab, runs: Sequence[Run], study: Study, configuration: Configuration | None, actor: str
) -> Placed:
    """Place the runs in the study, and write it into the audit trail."""
    placed = place(runs, study, configuration)
    ids = [run.pk for run in runs]
    AuditEvent.objects.record(lab.pk, "runs put into a study", study.slug, actor=actor, runs=ids)
    return placed


def still_there(runs: Sequence[Run]) -> list[Run]:
    """Lock the runs that still exist, so that nobody deletes them before the caller's transaction ends."""
    requested = Run.objects.filter(pk__in=[run.pk for run in runs]).order_by("pk").select_for_update(no_key=True)
    here = set(requested.values_list("pk", flat=True))
    return [run for run in runs if run.pk in here]


def columns_of(study: Study) -> "StudyConfigurations":
    """Lock the study, so that nobody else places runs before the caller's transaction ends, and return its columns."""
    Study.objects.select_for_update().get(pk=study.pk)
    return StudyConfigurations(study)


class StudyConfigurations:
    """A study's configurations by what runs say; those that are missing are made.

    Where a run's label says its configuration, only that one will do, be it by its label or by its name: what differs in a letter
    may differ in the machine. Else it is the one that is called as the run's target or host is, or the only one of this target; `md0`
    of another host is another one.
    """

    def __init__(self, study: Study) -> None:
        self.study, self.made = study, list[str]()
        self.known = list(study.configurations.all())

    def of(self, run: Placeable) -> Configuration:
        if label := run.labels.get("configuration", "")[:LONGEST_LABEL]:
            named = (configuration for configuration in self.known if configuration.name == label)
            return self._labelled(self.known, label) or next(named, None) or self._make(run, label)
        return self._placed(run)

    def _placed(self, run: Placeable) -> Configuration:
        label, fitting = (
            _called(run)[:LONGEST_LABEL],
            [configuration for configuration in self.known if _fits(configuration, run)],
        )
        longer = f"{run.host} {label}"[:LONGEST_LABEL]
        of_target = [
            configuration for configuration in fitting if run.target and configuration.target_id == run.target.pk
        ]
        match = self._labelled(fitting, label) or self._labelled(fitting, longer)
        if match is None and len(of_target) == 1:
            match = of_target[0]
        return match or self._make(run, longer if self._labelled(self.known, label) else label)

    @staticmethod
    def _labelled(among: Sequence[Configuration], label: str) -> Configuration | None:
        return next((configuration for configuration in among if configuration.label.lower() == label.lower()), None)

    def _make(self, run: Placeable, label: str) -> Configuration:
        row: Configuration = Configuration.objects.create(
            study=self.study, name=free_name(self.study, label), label=label, position=len(self.known),
            host=run.host, target=run.target,
        )  # fmt: skip
        self.known.append(row)
        self.made.append(label)
        return row


def _fits(configuration: Configuration, run: Placeable) -> bool:
    """Return whether a configuration may be the run's, as far as both name host and target."""
    is_elsewhere = configuration.target_id and run.target and configuration.target_id != run.target.pk
    return not is_elsewhere and not (configuration.host_id and run.host and configuration.host_id != run.host.pk)


def _called(run: Placeable) -> str:
    place = run.target or run.host
    return (place.name if place else "") or run.labels.get("machine") or run.labels.get("caption") or run.tool
