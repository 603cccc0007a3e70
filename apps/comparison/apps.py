from django.apps import AppConfig


class ComparisonConfig(AppConfig):
    name = "apps.comparison"

    def ready(self) -> None:
        from django.db.models.signals import post_delete, post_save

        from apps.comparison.claiming.changes import place_changed, runs_arrived
        from apps.comparison.trends.arrivals import call_watches
        from apps.runs.arrivals import arrived

        arrived.connect(call_watches, dispatch_uid="trends")
        arrived.connect(runs_arrived, dispatch_uid="claims")
        for signal in (post_save, post_delete):
            signal.connect(place_changed, sender="studies.StudyRun", dispatch_uid="claims")
