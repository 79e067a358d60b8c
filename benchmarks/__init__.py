"""Side by side with other libraries: the same problem, results first, then times.

``python -m benchmarks`` runs every case and writes ``RESULTS.md`` and ``results.svg``;
``python -m benchmarks --list`` names them. A case is data (``cases.py``); one contender
of it runs in a process of its own (``worker.py``).
"""
