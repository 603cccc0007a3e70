"""The Spindle agent: runs fio on a lab host for a Spindle server, within limits that only this host sets.

Standard library only, Python 3.6 and later. To judge it before trusting it, read in this order:

    client          HTTP to the server with retries, and who this agent is to the server
    inventory       the commands and kernel files that describe this machine, and how they are read
    directory       a directory under test, opened so that no link leads out of it
    conf            agent.conf: what this host allows
    options         the options of fio that are known, their values, what must go together, and what is refused with why
    policy          the only workloads that are accepted
    render          the job file and command line made from them; nothing of them comes from the server as text
    disk            writing that survives crashes
    attempt         one attempt's files and what they say
    spool           what is kept on disk, so that no crash loses or repeats a run
    mount           the disks and the filesystem under test, how the kernel is set for them, and whether a run was meant for them
    activity        what else this machine does, before a run and during it
    cleanup         fio's processes ended, its files removed, and nobody else's
    guards          what shall hold on this machine right before fio starts, a module for each kind
    runner          the small process that outlives the agent, starts fio and holds the attempt's lock
    inventory_scan  the inventory collected in a process of its own, and what the server has refused
    upload          how results reach the server
    work            an attempt's way from offer to the server's last word, and the start of its runner
    admin           doctor, upgrades of this program, and the probe that an administrator may run as root
    loop            the agent itself: the long poll, and sleep
    main            the command line

It never runs a command that the server names, never opens a raw device and never touches a file outside its own directories.
"""

VERSION = "1.4"
