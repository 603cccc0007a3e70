"""Parts are found by their host's name too: `storage1 sdb` is sdb in storage1. No index holds both, so hosts are asked for first."""

import re
from collections.abc import Iterable, Mapping

from django.db.models import Q

from apps.inventory.models import Host
from apps.search.words import holds_words

MOST_WORDS = 8
_WORD = re.compile(r"[^\W_]+")
HostsByWord = Mapping[str, list[int]]


def hosts_by_word(asked: str) -> HostsByWord:
    """word → numbers of the hosts in whose name it begins a word; one query. Words of no host are there with none."""
    words = list(dict.fromkeys(_words(asked)))[:MOST_WORDS]
    if not words:
        return {}
    somewhere = Q()
    for word in words:
        somewhere |= Q(name__icontains=word) | Q(fqdn__icontains=word)
    named = [(pk, _words(f"{name} {fqdn}")) for pk, name, fqdn in _names(somewhere)]
    return {word: [pk for pk, names in named if any(one.startswith(word) for one in names)] for word in words}


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _names(condition: Q) -> Iterable[tuple[int, str, str]]:
    found: Iterable[tuple[int, str, str]] = Host.objects.filter(condition).order_by().values_list("pk", "name", "fqdn")
    return found


def holds_words_or_host(model: type, fields: tuple[str, ...], asked: str, hosts: HostsByWord) -> Q:
    """Each word begins a word of the part's own fields or of its host's name. The host comes first: it is the cheaper one to look at."""
    if not any(hosts.values()):
        return Q(holds_words(model, fields, asked))
    own = " ".join(word for word, found in hosts.items() if not found)
    condition = Q(holds_words(model, fields, own)) if own else Q()
    for word, found in hosts.items():
        if found:
            condition &= Q(host_id__in=found) | Q(holds_words(model, fields, word))
    return condition
