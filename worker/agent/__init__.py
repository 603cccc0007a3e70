"""The Spindle agent: runs fio on a lab host for a Spindle server, within limits that only this host sets.

Standard library only, Python 3.6 and later. To judge it before trusting it, read in this order:

    client     how it talks to the server, and how it retries
    tools      the commands that it asks about this machine, and how they are run
    sysfs      what it reads from the kernel's device tree
    inventory  what it tells the server about this machine
    conf       agent.conf: what this host allows
    policy     the only workloads that are accepted
    render     the job file and command line made from them; nothing of them comes from the server as text
    disk       writing that survives crashes
    attempt    one attempt's files and what they say
    spool      what is kept on disk, so that no crash loses or repeats a run
    place      which disks are under test
    activity   what else this machine does, before a run and during it
    leftovers  fio's processes ended, its files removed, and nobody else's
    runner     the small process that outlives the agent and starts fio
    hire       how the agent comes by one
    look       the look at the machine, beside the agent
    upload     how results reach the server
    work       an attempt's way from offer to the server's last word
    loop       the agent itself: the long poll, and sleep
    main       the command line

It never runs a command that the server names, never opens a raw device and never touches a file outside its own directories.
"""

VERSION = "1.0"
