from django.urls import path

from apps.wiki import translation_views, views

urlpatterns = [
    path("studies/<slug:slug>/wiki/", views.study_wiki, name="study-wiki"),
    path("studies/<slug:slug>/wording/", translation_views.study_wording, name="study-wording"),
]
