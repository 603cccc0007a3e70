from django.apps import AppConfig


class StudiesConfig(AppConfig):
    name = "apps.studies"

    def ready(self) -> None:
        """Offer the studies to the form that starts runs."""
        from apps.runs.start.details import study_places
        from apps.studies.run_placement import StudyChoices

        study_places.append(StudyChoices())
