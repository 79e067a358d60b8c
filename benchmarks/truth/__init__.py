"""Measure whether what the library states is true.

Each module repeats an experiment whose right answer is known by construction, such as
an audit of features that were selected on permuted labels, and counts how often the
library gives that answer. The counts are stored beside the module and quoted in the
documentation.
"""
