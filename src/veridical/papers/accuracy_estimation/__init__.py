"""The accuracy of estimates of accuracy: Kohavi (1995)."""
