from django.urls import path

from apps.inventory.slots import views

urlpatterns = [
    path("hosts/<int:pk>/slots/", views.host_slots, name="host-slots"),
    path("hosts/<int:pk>/enclosures/new/", views.enclosure_new, name="host-enclosure-new"),
    path("enclosures/<int:pk>/", views.enclosure, name="enclosure"),
    path("enclosures/<int:pk>/layout/", views.enclosure_layout, name="enclosure-layout"),
    path("enclosures/<int:pk>/place/", views.enclosure_place, name="enclosure-place"),
    path("enclosures/<int:pk>/put/", views.enclosure_put, name="enclosure-put"),
    path("enclosures/<int:pk>/take-out/", views.enclosure_take_out, name="enclosure-take-out"),
]
