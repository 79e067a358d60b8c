"""Learning using unselected features: Taylor et al. (2016)."""
