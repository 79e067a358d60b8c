"""The command line: where ``veridical`` and ``python -m veridical`` begin."""

from __future__ import annotations

import os
import signal


def main() -> None:
    """Run the command line; Ctrl-C is heard while it is being loaded, too."""
    loading = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if loading:
        signal.signal(signal.SIGINT, _leave)
    from veridical.cli import main as run

    if loading:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    run()


def _leave(number: int, frame: object) -> None:
    """End as a verb ends that is stopped; nothing is open yet."""
    os.write(2, f"Stopped. Nothing was written.{os.linesep}".encode())
    os._exit(130)


if __name__ == "__main__":
    main()
