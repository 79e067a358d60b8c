"""How accurate? Resampling schemes and estimates with intervals."""
