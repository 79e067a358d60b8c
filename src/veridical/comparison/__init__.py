"""Which selector is better, and may I believe it?"""
