"""From scores to an order."""
