from django.urls import path

from apps.comparison.claims import views

urlpatterns = [
    path("studies/<slug:slug>/claims/", views.claims, name="claims"),
    path("studies/<slug:slug>/claims/new/", views.new, name="claim-new"),
    path("claims/<int:pk>/", views.claim, name="claim"),
    path("claims/<int:pk>/edit/", views.edit, name="claim-edit"),
    path("claims/<int:pk>/delete/", views.delete, name="claim-delete"),
]
