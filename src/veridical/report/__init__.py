"""Look at it: records to pages and pictures."""
