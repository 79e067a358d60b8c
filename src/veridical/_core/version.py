"""The version of veridical, for the package, its build and its records."""

__version__ = "0.2.0.dev0"
