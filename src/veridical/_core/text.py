"""Lists, plurals, quotations and similar words in messages."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Collection, Iterable
from itertools import islice
from typing import Any

import numpy as np

#: Items of a list; the number of further ones is given.
_ITEMS_SHOWN = 6
#: Characters of a quoted value; a longer one is cut.
_WIDTH = 60


def listed(items: Iterable[Any]) -> str:
    """Show the first few items, and how many there are beyond them.

    >>> listed(["a", "b"]), listed(range(9))
    ("'a', 'b'", '0, 1, 2, 3, 4, 5 and 3 more')
    """
    items = list(items)
    more = len(items) - _ITEMS_SHOWN
    if more <= 1:  # "1 more" would not be shorter
        return ", ".join(quote(item) for item in items)
    shown = ", ".join(quote(item) for item in islice(items, _ITEMS_SHOWN))
    return f"{shown} and {more} more"


def listing(items: Iterable[str], last: str = "and") -> str:
    """Write a list as a person would; `last` stands before the last item.

    >>> listing(["IN", "OUT"]), listing(["IN", "OUT", "TRUTH"], "or")
    ('IN and OUT', 'IN, OUT or TRUTH')
    """
    items = list(items)
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} {last} {items[-1]}"


def quote(value: Any) -> str:
    """Quote a value as Python would, cut where it is long.

    >>> import numpy as np
    >>> quote(np.str_("a")), quote(np.int64(3)), len(quote("long" * 100))
    ("'a'", '3', 60)
    """
    text = repr(value.item() if isinstance(value, np.generic) else value)
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 4]}...{text[-1]}"


def shortened(name: str, longest: int = 48) -> str:
    """Cut a name that is too long for a sentence.

    >>> shortened("abcdef", 4)
    'abc…'
    """
    return name if len(name) <= longest else f"{name[: longest - 1]}…"


def capitalized(text: str) -> str:
    """Begin a sentence: the first letter is a capital, the others stay.

    >>> capitalized("naive Bayes"), capitalized("1-NN")
    ('Naive Bayes', '1-NN')
    """
    return text[:1].upper() + text[1:]


def is_number(value: Any) -> bool:
    """Return whether a value, or the text of one, is a number.

    >>> is_number("1e-3"), is_number("a"), is_number(None)
    (True, False, False)
    """
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def plural(noun: str, items: Iterable[Any]) -> str:
    """Return the noun, with an s unless there is exactly one item.

    >>> plural("row", [1]), plural("row", [1, 2])
    ('row', 'rows')
    """
    return noun if len(list(items)) == 1 else f"{noun}s"


def write_rows(rows: Collection[Any]) -> str:
    """Name rows in a message.

    >>> write_rows([3]), write_rows([3, 5])
    ('row 3', 'rows 3, 5')
    """
    return f"{plural('row', rows)} {listed(rows)}"


def did_you_mean(word: str, known: Iterable[Any]) -> str:
    """End a sentence with the most similar known words, if there are any.

    >>> did_you_mean("clas", ["class", "age"]), did_you_mean("x", ["age"])
    ("; did you mean 'class'?", '.')
    """
    known = [item for item in known if isinstance(item, str)]
    folded = {item.casefold(): item for item in reversed(known)}
    close = difflib.get_close_matches(word.casefold(), folded, n=3)
    if not close:
        return "."
    return f"; did you mean {' or '.join(repr(folded[item]) for item in close)}?"


def one_line(thing: object) -> str:
    """Write an object on one line, functions by their names."""
    return re.sub(r"<function (\S+) at 0x\w+>", r"\1", " ".join(repr(thing).split()))


def number_repeated(names: Iterable[str]) -> list[str]:
    """Append a number to repeated names, from the second on; skip numbers in use.

    Parameters
    ----------
    names : iterable of str
        Names of features, of which several may be the same.

    Examples
    --------
    >>> number_repeated(["TP53", "MYC", "TP53"])
    ['TP53', 'MYC', 'TP53 #2']
    """
    names = list(names)
    taken, times = set(names), Counter[str]()
    found = []
    for name in names:
        times[name] += 1
        new = name
        while times[name] > 1 and (new := f"{name} #{times[name]}") in taken:
            times[name] += 1
        taken.add(new)
        found.append(new)
    return found
