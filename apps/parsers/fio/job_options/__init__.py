"""The options of a fio job that Spindle runs and those that it refuses, as one table.

Form, REST, import of job files, checks and the job file that pages show are made from it; each host checks again with
its own table, `worker/agent/options/`, which a test compares with this one.
"""
