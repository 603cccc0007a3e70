"""Parts are found by their host's name too: `storage1 sdb` is sdb in storage1. No index holds both, so hosts are asked for first."""

import re
from collections.abc import Mapping

from django.db.models import Q

from apps.inventory.models import Host
from apps.search.words import holds_words

MOST_WORDS = 8
_WORD = re.compile(r"[^\W_]+")
HostsByWord = Mapping[str, list[int]]


def hosts_by_word(asked: str) -> HostsByWord:
    """word → numbers of the hosts in whose name it begins a word; one query. Words of no host are there with none."""
    words = list(dict.fromkeys(_WORD.findall(asked.lower())))[:MOST_WORDS]
    if not words:
        return {}
    names = {f"has_{place}": holds_words(Host, ("name", "fqdn"), word) for place, word in enumerate(words)}
    either = Q()
    for name in names:
        either |= Q(**{name: True})
    rows = list(Host.objects.annotate(**names).filter(either).values_list("pk", *names))
    return {word: [row[0] for row in rows if row[place]] for place, word in enumerate(words, 1)}


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
