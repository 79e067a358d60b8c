"""The entry point of ``veridical`` and ``python -m veridical``."""

from __future__ import annotations

from veridical._core import interrupts


def main() -> None:
    """Run the command line; Ctrl-C is handled during its import, too."""
    with interrupts.handled():
        from veridical.cli import main as run

        run()


if __name__ == "__main__":
    main()
