"""The pages on which a person looks at what was read from an upload before its runs are saved."""
