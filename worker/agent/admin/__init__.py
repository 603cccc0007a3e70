"""What a host's administrator does with the agent: doctor, upgrades, and the probe that runs as root."""
