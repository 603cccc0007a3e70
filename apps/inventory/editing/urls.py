"""The same pages for every kind: `disks/new/`, `disks/7/edit/`, `disks/7/delete/`, `disks/7/history/`."""

from django.urls import path

from apps.inventory.editing import views
from apps.inventory.editing.registry import KINDS
from apps.inventory.history import views as history

urlpatterns = [
    path("hosts/add/", views.add, name="inventory-add"),
    path("hosts/history/", history.of_lab, name="inventory-history"),
    path("hosts/changes/<int:pk>/undo/", history.undo_change, name="change-undo"),
    path("hosts/<int:pk>/maintenance/", views.maintenance, name="host-maintenance"),
]
for kind in KINDS:
    only = {"kind": kind.name}
    urlpatterns += [
        path(f"{kind.plural}/new/", views.new, only, name=f"{kind.name}-new"),
        path(f"{kind.plural}/<int:pk>/edit/", views.edit, only, name=f"{kind.name}-edit"),
        path(f"{kind.plural}/<int:pk>/delete/", views.delete, only, name=f"{kind.name}-delete"),
        path(f"{kind.plural}/<int:pk>/history/", history.of_part, only, name=f"{kind.name}-history"),
    ]
