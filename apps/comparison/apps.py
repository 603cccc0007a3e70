from django.apps import AppConfig


class ComparisonConfig(AppConfig):
    name = "apps.comparison"

    def ready(self) -> None:
        from django.db.models.signals import post_delete, post_save, pre_delete

        from apps.comparison.claims.signals import configuration_changed, place_changed, runs_arrived
        from apps.comparison.saved_comparisons.question import follow_merge, keep_last_name
        from apps.comparison.saved_comparisons.references import MODELS
        from apps.inventory.bulk.merge import parts_merged
        from apps.runs.services import arrived

        arrived.connect(runs_arrived, dispatch_uid="claims")
        parts_merged.connect(follow_merge, dispatch_uid="references")
        for model in MODELS.values():
            pre_delete.connect(keep_last_name, sender=model, dispatch_uid="last-names")
        post_save.connect(configuration_changed, sender="studies.Configuration", dispatch_uid="claims")
        for signal in (post_save, post_delete):
            signal.connect(place_changed, sender="studies.StudyRun", dispatch_uid="claims")
