"""What every room stands on: tables, splits, seeds, parallel work, scores, text."""
