"""URLs of studies, included after all others: `studies/new/` is no study's name."""

from django.urls import path

from apps.dashboard.views import studies

urlpatterns = [
    path("studies/", studies.studies, name="studies"),
    path("studies/<slug:slug>/", studies.study, name="study"),
]
