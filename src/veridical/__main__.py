"""``python -m veridical``: the command line."""

from veridical.cli import main

if __name__ == "__main__":
    main()
