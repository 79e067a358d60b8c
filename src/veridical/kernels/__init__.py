"""Numeric routines: arrays in, arrays out, and nothing else."""
