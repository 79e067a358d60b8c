"""What all packages share: tables, splits, seeds, parallel work, scores, text."""
