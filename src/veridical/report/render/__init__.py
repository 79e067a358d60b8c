"""Renderers: each knows views and their blocks, and no kinds of records."""
