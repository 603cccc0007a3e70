from django.apps import AppConfig


class AgentsConfig(AppConfig):
    name = "apps.agents"

    def ready(self) -> None:
        """Register what hinders runs on hosts, so that the form that starts runs shows it."""
        from apps.agents.obstacles import report_hosts
        from apps.runs.forms import host_reports

        host_reports.append(report_hosts)
