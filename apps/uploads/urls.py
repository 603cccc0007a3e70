from django.urls import path

from apps.uploads.views import files, hosts, inventory_import, mapping, revert, upload_list, uploads

upload = "uploads/<int:pk>/"
file = "uploads/<int:upload>/files/<int:pk>/"
urlpatterns = [
    path("uploads/", upload_list.uploads, name="uploads"),
    path(upload, uploads.upload, name="upload"),
    path(upload + "add/", upload_list.add, name="upload-add"),
    path(upload + "belongs/", uploads.belongs, name="upload-belongs"),
    path(upload + "keep/", uploads.keep, name="upload-keep"),
    path(upload + "again/", uploads.again, name="upload-again"),
    path(upload + "hosts/", hosts.named, name="upload-hosts"),
    path(upload + "inventory/", inventory_import.all_of, name="upload-inventory"),
    path(upload + "take-back/", revert.taken_back, name="upload-take-back"),
    path(upload + "discard/", uploads.discard, name="upload-discard"),
    path(file, files.file, name="uploaded-file"),
    path(file + "bytes/", files.raw, name="uploaded-file-bytes"),
    path(file + "choose/", files.choose, name="uploaded-file-choose"),
    path(file + "belongs/", files.belongs, name="uploaded-file-belongs"),
    path(file + "left-out/", files.left_out, name="uploaded-file-left-out"),
    path(file + "again/", files.again, name="uploaded-file-again"),
    path(file + "mapping/", mapping.mapping, name="uploaded-file-mapping"),
    path("uploads/found/<int:pk>/", inventory_import.decide, name="found-inventory"),
]
