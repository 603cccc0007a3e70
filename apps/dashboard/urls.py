from django.urls import path

from apps.dashboard.views import agents, host, overview, run

urlpatterns = [
    path("", overview.overview, name="overview"),
    path("hosts/<int:pk>/", host.host, name="host"),
    path("runs/<int:pk>/", run.run, name="run"),
    path("lab/agents/", agents.agents, name="agents"),
    path("lab/agents/enrol/", agents.enrol, name="agent-enrolment"),
    path("lab/agents/enrol/<int:pk>/", agents.awaited, name="agent-awaited"),
    path("lab/agents/<int:pk>/<str:act>/", agents.decide, name="agent-decide"),
]
