from django.urls import path

from apps.agents import downloads, protocol

attempt = "agent/v1/attempts/<int:pk>/"
urlpatterns = [
    path("agent/v1/enrol/", protocol.enrol, name="agent-enrol"),
    path("agent/v1/inventory/", protocol.inventory, name="agent-inventory"),
    path(attempt + "accept/", protocol.accept, name="agent-accept"),
    path(attempt + "refuse/", protocol.refuse, name="agent-refuse"),
    path(attempt + "running/", protocol.running, name="agent-running"),
    path(attempt + "streams/<slug:stream>/chunks/<int:sequence>/", protocol.chunk, name="agent-chunk"),
    path(attempt + "finish/", protocol.finish, name="agent-finish"),
    path("agent/agent.pyz", downloads.program, name="agent-program"),
    path("agent/install.sh", downloads.install_script, name="agent-install"),
    path("agent/agent.service", downloads.service, name="agent-service"),
]
