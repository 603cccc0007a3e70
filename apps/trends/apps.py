from django.apps import AppConfig


class TrendsConfig(AppConfig):
    name = "apps.trends"

    def ready(self) -> None:
        from apps.notifications.messages import register
        from apps.runs.services import arrived
        from apps.trends.notifications import change_subject, change_text, drift_subject, drift_text
        from apps.trends.signals import call_watches

        arrived.connect(call_watches, dispatch_uid="trends")
        register("change-point", subject=change_subject, text=change_text)
        register("drift", subject=drift_subject, text=drift_text)
