"""Phrases of other modules that documents repeat, marked for translation; what is not here stays English."""

from django.utils.translation import gettext_noop

TITLES_OF_CAVEATS = (
    gettext_noop("Above what the topology can carry"),
    gettext_noop("May be memory, not disk"),
    gettext_noop("File not larger than the controller's cache"),
    gettext_noop("Write not synced"),
    gettext_noop("Synced block by block"),
    gettext_noop("Children and parent disagree"),
    gettext_noop("Units do not agree"),
    gettext_noop("Header and rows disagree"),
    gettext_noop("A chain faster than its part"),
    gettext_noop("Text and table disagree"),
    gettext_noop("The array was not in order"),
    gettext_noop("Members share a controller or a path"),
    gettext_noop("Measured inside a guest"),
    gettext_noop("CPU-bound"),
    gettext_noop("fio's clock is not known"),
    gettext_noop("fio's logs were on"),
    gettext_noop("The machine was not idle"),
    gettext_noop("Measured one after another"),
    gettext_noop("First and last runs differ"),
    gettext_noop("Not repetitions of one thing"),
    gettext_noop("Wide spread"),
    gettext_noop("Too few runs"),
    gettext_noop("A mean without its repetitions"),
    gettext_noop("Transcribed by hand or by OCR"),
)
AXES = (
    gettext_noop("file size"), gettext_noop("block size"), gettext_noop("threads"), gettext_noop("I/O depth"),
    gettext_noop("configuration or host"), gettext_noop("host"),
)  # fmt: skip
MEASURED = (
    gettext_noop("write"), gettext_noop("read"), gettext_noop("random write"), gettext_noop("random read"),
    gettext_noop("rewrite"), gettext_noop("reread"), gettext_noop("char write"), gettext_noop("char read"),
    gettext_noop("copy"), gettext_noop("seek"), gettext_noop("net send"), gettext_noop("net receive"),
    gettext_noop("Bandwidth"), gettext_noop("IOPS"), gettext_noop("Rate"),
)  # fmt: skip
PROCEDURE = (
    gettext_noop(
        "Interleaved: all configurations at one point, then the next point, then again from the first one. "
        "A passing disturbance then hits every configuration and not only one."
    ),
    gettext_noop("Randomized: every round has all cells, shuffled by the stored seed, so that the same plan gives the same order."),
    gettext_noop("Sequential: one configuration after the other, each point with all its rounds."),
    gettext_noop("The order is not printed."),
    gettext_noop("Nothing else runs on the host; its load is about zero."),
    gettext_noop("No users on the host: nobody is logged in."),
    gettext_noop("The host's batch queues are switched off."),
    gettext_noop("The system is freshly installed and carries no load."),
    gettext_noop("No other benchmark runs on the host, which could warm a cache."),
    gettext_noop("Page cache dropped before the step, and read back."),
    gettext_noop("The test file of the step before is removed."),
    gettext_noop("The array neither resyncs nor is it degraded."),
    gettext_noop("The filesystem has room for the test file."),
    gettext_noop("Disk temperatures are within their limits, where they can be read."),
    gettext_noop("The target was preconditioned before the step by writes of the plan."),
    gettext_noop("waiting"),
    gettext_noop("running"),
    gettext_noop("done"),
    gettext_noop("failed"),
    gettext_noop("not run"),
    gettext_noop("partly"),
    gettext_noop("not held"),
    gettext_noop("as reported"),
    gettext_noop("asked for; not checked"),
    gettext_noop("stated by a person; nothing checks it"),
)  # fmt: skip
