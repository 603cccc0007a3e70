from django.urls import path

from apps.comparison.claims import views
from apps.comparison.claims.matched import views as matched_views

urlpatterns = [
    path("studies/<slug:slug>/claims/", views.claims, name="claims"),
    path("studies/<slug:slug>/claims/new/", views.new, name="claim-new"),
    path("claims/about/<slug:factor>/", matched_views.about, name="claim-about"),
    path("claims/<int:pk>/", views.claim, name="claim"),
    path("claims/<int:pk>/edit/", views.edit, name="claim-edit"),
    path("claims/<int:pk>/delete/", views.delete, name="claim-delete"),
]
