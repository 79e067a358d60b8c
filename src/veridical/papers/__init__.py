"""One file per paper: its grid, its published figures, its findings."""
