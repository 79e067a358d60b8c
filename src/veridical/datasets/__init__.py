"""Sources with known truth, and readers for data that people have."""
