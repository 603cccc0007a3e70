"""Controllers, disks and arrays of a host, combined from the outputs of its tools."""
