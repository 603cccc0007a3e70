"""What is lost with a study or a configuration. Runs and their samples stay in any case."""

from apps.studies.models import Configuration, Study, StudyRun

WORDS = {
    "claims": ("claim with its history", "claims with their history"),
    "comparisons": ("comparison with its caption", "comparisons with their captions"),
    "plans": ("plan", "plans"),
    "configurations": ("configuration", "configurations"),
}


def lost_with_study(study: Study) -> list[str]:
    """`3 claims with their history`: whatever refers to the study and goes with it."""
    counted = {name: getattr(study, name).count() for name in WORDS if hasattr(study, name)}
    return [f"{n} {WORDS[name][n != 1]}" for name, n in counted.items() if n]


def runs_of_study(study: Study) -> int:
    return int(StudyRun.objects.filter(configuration__study=study).count())


def runs_of_configuration(configuration: Configuration) -> int:
    return int(StudyRun.objects.filter(configuration=configuration).count())
