"""Read a page back: its elements, its headings, its text."""

from __future__ import annotations

from html.parser import HTMLParser

VOID = {"meta", "link", "img", "br", "hr", "input", "source", "base", "embed"}


class Page(HTMLParser):
    """Collects what a page is made of, and insists that its tags are balanced."""

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, tuple[str, ...]]] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.other: list[str] = []
        self.words: list[str] = []
        self.headings: list[tuple[int, str]] = []
        self._open: list[str] = []
        self.feed(source)
        self.close()
        assert self._open == [], f"left open: {self._open}"

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, tuple(sorted(name for name, _ in attrs))))
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID:
            self._open.append(tag)
        if tag in ("h1", "h2", "h3"):
            self.headings.append((int(tag[1]), ""))

    def handle_endtag(self, tag):
        assert self._open, f"nothing to close with </{tag}>"
        assert self._open.pop() == tag

    def handle_data(self, data):
        if self._open and self._open[-1] not in ("style", "script"):
            self.words.append(data)
        if self._open and self._open[-1] in ("h1", "h2", "h3"):
            level, text = self.headings[-1]
            self.headings[-1] = (level, text + data)

    def handle_comment(self, data):
        self.other.append(f"comment {data}")

    def handle_decl(self, decl):
        self.other.append(f"declaration {decl}")

    def handle_pi(self, data):
        self.other.append(f"instruction {data}")

    def unknown_decl(self, data):
        self.other.append(f"unknown {data}")

    @property
    def text(self) -> str:
        """Everything a reader reads, with single spaces."""
        return " ".join("".join(self.words).replace("\xa0", " ").split())


def elements(source: str) -> list[tuple[str, tuple[str, ...]]]:
    """List every element with the names of its attributes."""
    return Page(source).elements
