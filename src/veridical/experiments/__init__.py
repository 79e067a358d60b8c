"""A study as data: resumable, local or on a cluster."""
