from django.urls import path

from apps.inventory import raid_plan_pages, slot_pages

urlpatterns = [
    path("hosts/<int:pk>/slots/", slot_pages.host_slots, name="host-slots"),
    path("hosts/<int:pk>/enclosures/new/", slot_pages.enclosure_new, name="host-enclosure-new"),
    path("hosts/<int:pk>/raid-plan/", raid_plan_pages.raid_plan, name="host-raid-plan"),
    path("enclosures/<int:pk>/", slot_pages.enclosure, name="enclosure"),
    path("enclosures/<int:pk>/layout/", slot_pages.enclosure_layout, name="enclosure-layout"),
    path("enclosures/<int:pk>/place/", slot_pages.enclosure_place, name="enclosure-place"),
    path("enclosures/<int:pk>/put/", slot_pages.enclosure_put, name="enclosure-put"),
    path("enclosures/<int:pk>/take-out/", slot_pages.enclosure_take_out, name="enclosure-take-out"),
]
