from django.urls import path

from apps.agents import downloads, protocol

attempt = "v1/attempts/<int:pk>/"
urlpatterns = [
    path("v1/enrol/", protocol.enrol, name="agent-enrol"),
    path("v1/self/", protocol.own, name="agent-self"),
    path("v1/inventory/", protocol.inventory, name="agent-inventory"),
    path(attempt + "accept/", protocol.accept, name="agent-accept"),
    path(attempt + "refuse/", protocol.refuse, name="agent-refuse"),
    path(attempt + "guards/", protocol.guards, name="agent-guards"),
    path(attempt + "running/", protocol.running, name="agent-running"),
    path(attempt + "streams/<slug:stream>/chunks/<int:sequence>/", protocol.chunk, name="agent-chunk"),
    path(attempt + "finish/", protocol.finish, name="agent-finish"),
    path("agent.pyz", downloads.program, name="agent-program"),
    path("install.sh", downloads.install_script, name="agent-install"),
    path("agent-security.md", downloads.security, name="agent-security"),
    path("agent.service", downloads.service, name="agent-service"),
    path("probe.service", downloads.probe_units, {"name": "probe.service"}, name="agent-probe-service"),
    path("probe.timer", downloads.probe_units, {"name": "probe.timer"}, name="agent-probe-timer"),
    path("drop-caches.service", downloads.probe_units, {"name": "drop-caches.service"}, name="agent-drop-service"),
    path("drop-caches.path", downloads.probe_units, {"name": "drop-caches.path"}, name="agent-drop-path"),
    path("v1/<path:rest>", protocol.not_there),  # also for a missing final slash: agents follow no redirect
]
