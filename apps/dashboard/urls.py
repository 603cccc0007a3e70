from django.urls import path

from apps.dashboard.views import (
    agents,
    drawing,
    findings,
    host,
    over_time,
    overview,
    plan_trends,
    queue,
    run,
    timeline,
    units,
)

urlpatterns = [
    path("", overview.overview, name="overview"),
    path("findings/", findings.findings, name="findings"),
    path("hosts/<int:pk>/", host.host, name="host"),
    path("hosts/<int:pk>/drawing/", drawing.page, name="host-drawing"),
    path("hosts/<int:pk>/drawing.svg", drawing.file, name="host-drawing-file"),
    path("hosts/<int:pk>/timeline/", timeline.timeline, name="host-timeline"),
    path("hosts/<int:pk>/abandon/", queue.abandon, name="host-abandon"),
    path("queue/", queue.queue, name="queue"),
    path("queue/order/", queue.order, name="queue-order"),
    path("queue/cancel/", queue.cancel, name="queue-cancel"),
    path("runs/<int:pk>/", run.run, name="run"),
    path("runs/<int:pk>/read-again/", run.read_result_again, name="run-read-again"),
    path("runs/<int:pk>/over-time/<slug:metric>/", over_time.over_time, name="run-over-time"),
    path("plans/<int:pk>/trends/", plan_trends.plan_trends, name="plan-trends"),
    path("lab/agents/", agents.agents, name="agents"),
    path("lab/agents/enrol/", agents.enrol, name="agent-enrolment"),
    path("lab/agents/enrol/<int:pk>/", agents.awaited, name="agent-awaited"),
    path("lab/agents/<int:pk>/<str:act>/", agents.decide, name="agent-decide"),
    path("units/", units.choose, name="units"),
]
