"""The command line: where ``veridical`` and ``python -m veridical`` begin."""

from __future__ import annotations

from veridical._core import interrupts


def main() -> None:
    """Run the command line; Ctrl-C is handled while it is being loaded, too."""
    with interrupts.handled():
        from veridical.cli import main as run

        run()


if __name__ == "__main__":
    main()
