"""Operations and metrics as people write them over tables. The names themselves are those of `apps.runs.metrics`."""

import re

OPERATIONS = (
    "write", "read", "randwrite", "randread", "rewrite", "reread", "char_write", "char_read", "backward_read",
    "record_rewrite", "stride_read", "fwrite", "frewrite", "fread", "freread", "pread", "pwrite", "trim", "seek",
    "create_seq", "stat_seq", "delete_seq", "create_rand", "stat_rand", "delete_rand", "create", "stat", "delete",
    "copy", "net_send", "net_receive", "net_request", "mixed", "sync", "cached_read",
)  # fmt: skip
METRICS = {  # → base unit
    "bandwidth": "B/s", "iops": "1/s", "rate": "1/s", "cpu": "fraction", "latency_mean": "ns", "latency_max": "ns",
    "latency_min": "ns", "latency_stdev": "ns", "clat_mean": "ns", "clat_min": "ns", "clat_max": "ns",
    "clat_stdev": "ns", "slat_mean": "ns", "slat_min": "ns", "slat_max": "ns", "slat_stdev": "ns", "jitter": "ns",
    "elapsed": "ns", "bandwidth_parent": "B/s", "bandwidth_min": "B/s", "bandwidth_max": "B/s",
    "bandwidth_mean": "B/s", "bandwidth_stdev": "B/s", "iops_min": "1/s", "iops_max": "1/s", "iops_mean": "1/s",
    "iops_stdev": "1/s", "io_bytes": "B", "min_xfer": "B", "lost": "fraction", "retransmits": "", "clat_p1": "ns",
    **{f"{kind}_p{p}": "ns" for kind in ("clat", "latency") for p in ("50", "90", "95", "99", "99_9", "99_99")},
}  # fmt: skip
METRIC_OF_BASE = {"B/s": "bandwidth"}  # the only base unit with one plain meaning

_NOT_WORDS = re.compile(r"[\s_\-.:()]+")
_IN_LANGUAGES = {
    # the plain word, and with those for sequential and random, as German, French, Italian, Spanish, Portuguese, Dutch, Swedish, Danish, Polish,
    # Czech, Russian, Ukrainian, Turkish, Chinese, Japanese and Korean have them
    **dict.fromkeys((
        "schreibend", "sequenzielles schreiben", "sequentielles schreiben", "seq schreiben", "écriture séquentielle", "ecriture",
        "scrittura sequenziale", "escritura", "escritura secuencial", "escrita", "escrita sequencial", "gravação", "schrijven",
        "sequentieel schrijven", "skrivning", "sekventiell skrivning", "skriva", "skrive", "zapis", "zapis sekwencyjny", "zápis",
        "sekvenční zápis", "последовательная запись", "запис", "yazma", "写", "写入", "顺序写", "顺序写入", "書き込み",
        "シーケンシャルライト", "쓰기",
    ), "write"),
    **dict.fromkeys((
        "lesend", "sequenzielles lesen", "sequentielles lesen", "seq lesen", "lecture séquentielle", "lettura sequenziale", "lectura",
        "lectura secuencial", "leitura", "leitura sequencial", "lezen", "sequentieel lezen", "läsning", "sekventiell läsning", "läsa",
        "læsning", "odczyt", "odczyt sekwencyjny", "čtení", "sekvenční čtení", "последовательное чтение", "читання", "okuma", "读", "读取",
        "顺序读", "顺序读取", "読み込み", "読み出し", "シーケンシャルリード", "읽기",
    ), "read"),
    **dict.fromkeys((
        "zufälliges schreiben", "wahlfreies schreiben", "écriture aléatoire", "scrittura casuale", "scrittura random", "escritura aleatoria",
        "escrita aleatória", "willekeurig schrijven", "zapis losowy", "náhodný zápis", "случайная запись", "随机写", "随机写入",
        "ランダムライト", "write random", "write rand",
    ), "randwrite"),
    **dict.fromkeys((
        "zufälliges lesen", "wahlfreies lesen", "lecture aléatoire", "lettura casuale", "lettura random", "lectura aleatoria",
        "leitura aleatória", "willekeurig lezen", "odczyt losowy", "náhodné čtení", "случайное чтение", "随机读", "随机读取",
        "ランダムリード", "read random", "read rand",
    ), "randread"),
    "write sequential": "write", "write seq": "write", "read sequential": "read", "read seq": "read",
    "wiederschreiben": "rewrite", "réécriture": "rewrite", "riscrittura": "rewrite", "reescritura": "rewrite", "перезапись": "rewrite",
}  # fmt: skip
_OPERATION_WORDS = {
    "sequential write": "write", "seq write": "write", "writing": "write", "writes": "write", "initial write": "write",
    "block write": "write", "seq write block": "write", "sequential output block": "write", "scrittura": "write",
    "schreiben": "write", "écriture": "write", "запись": "write", "sequential read": "read", "seq read": "read",
    "reading": "read", "reads": "read", "block read": "read", "seq read block": "read", "lettura": "read", "lesen": "read",
    "lecture": "read", "чтение": "read", "random write": "randwrite", "rand write": "randwrite", "rnd write": "randwrite",
    "randwrite": "randwrite", "random read": "randread", "rand read": "randread", "rnd read": "randread", "re write": "rewrite", "re read": "reread",
    "putc": "char_write", "per chr write": "char_write", "char write": "char_write", "seq write char": "char_write",
    "getc": "char_read", "per chr read": "char_read", "char read": "char_read", "seq read char": "char_read",
    "seeks": "seek", "random seeks": "seek", "bkwd read": "backward_read", "backward read": "backward_read",
    "seqrd": "read", "seqread": "read", "seqwr": "write", "seqwrite": "write", "seqrewr": "rewrite", "rndrd": "randread",
    "rndwr": "randwrite", **_IN_LANGUAGES, "record rewrite": "record_rewrite", "stride read": "stride_read", "cp": "copy", "time cp": "copy",
}  # fmt: skip
_METRIC_WORDS = {
    "bw": "bandwidth", "throughput": "bandwidth", "bandwidth": "bandwidth", "speed": "bandwidth", "io/s": "iops",
    "iops": "iops", "latency": "latency_mean", "mean latency": "latency_mean", "avg latency": "latency_mean",
    "average latency": "latency_mean", "elapsed time": "elapsed", "cpu": "cpu",
    **dict.fromkeys((
        "durchsatz", "datenrate", "transferrate", "bandbreite", "geschwindigkeit", "débit", "bande passante", "banda", "velocità",
        "velocidad", "velocidade", "rendimiento", "doorvoer", "snelheid", "hastighet", "prędkość", "rychlost", "скорость",
        "пропускная способность", "швидкість", "hız", "吞吐量", "带宽", "速度", "スループット", "transfer rate", "data rate",
    ), "bandwidth"),
    **dict.fromkeys((
        "latenz", "mittlere latenz", "latence", "latence moyenne", "latenza", "latenza media", "latencia", "latência", "latentie",
        "задержка", "средняя задержка", "opóźnienie", "延迟", "平均延迟", "レイテンシ", "lat", "mean lat", "avg lat",
    ), "latency_mean"),
    **dict.fromkeys(("dauer", "durée", "durata", "duración", "duração", "duur", "время", "laufzeit"), "elapsed"),
}  # fmt: skip
_OTHER_THAN = frozenset(
    ["cache", "ahead", "back", "through", "barrier", "barriers", "policy", "only", "on"]
)  # `write cache`, `read ahead`
_LONGEST_PHRASE = 4
_NEUTRAL = re.compile(
    r"(?:(?:table|tabelle|tableau|tabella|tabla|таблица|fig|figure|abb) \d+(?: \d+)? )?(.*?)"
    r"(?: (?:performance|results?|tests?|ergebnisse|résultats|risultati|resultados|результаты))?"
)


def normalise(text: str) -> str:
    """Return the text in small letters, with only its words."""
    return _NOT_WORDS.sub(" ", text).strip().casefold()


def find_operation(text: str) -> str:
    """Return the operation that a word or heading means, "" where it is none of those known."""
    words = normalise(text)
    return words.replace(" ", "_") if words.replace(" ", "_") in OPERATIONS else _OPERATION_WORDS.get(words, "")


def find_metric(text: str) -> str:
    """Return the metric that a word or heading means, "" where it is none of those known."""
    words = normalise(text)
    return words.replace(" ", "_") if words.replace(" ", "_") in METRICS else _METRIC_WORDS.get(words, "")


def split_operation(text: str) -> tuple[str, str]:
    """Return (operation, the other words) of a heading or title that names one and more: `Random write ext3`, but not `write cache`."""
    words = text.split()
    for length in range(min(_LONGEST_PHRASE, len(words)), 0, -1):
        for at in range(len(words) - length + 1):
            behind = at + length
            known = find_operation(" ".join(words[at:behind]))
            if known and (behind == len(words) or words[behind].casefold() not in _OTHER_THAN):
                return known, " ".join(words[:at] + words[behind:])
    return "", text


def split_metric(text: str) -> tuple[str, str]:
    """Return (metric, the other words) of `write speed` or `read IOPS`."""
    words = text.split()
    for length in range(min(_LONGEST_PHRASE, len(words)), 0, -1):
        for at in {0, len(words) - length}:
            if known := find_metric(" ".join(words[at : at + length])):
                return known, " ".join(words[:at] + words[at + length :])
    return "", text


def find_titled_operation(text: str) -> str:
    """Return the operation that a title names and nothing else: `Table 3: sequential read results`; "" for any other title."""
    match = _NEUTRAL.fullmatch(normalise(text.replace(",", " "))[:200])
    return find_operation(split_metric(match[1])[1]) if match else ""
