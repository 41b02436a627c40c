"""What a browser would read in a page."""

import json
from html.parser import HTMLParser


class Page(HTMLParser):
    """The elements of a page, the values of their attributes, its scripts, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, tuple[str, ...]]] = []
        self.addresses: list[str] = []
        self.scripts: list[str] = []
        self.words: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, tuple(name for name, _ in attrs)))
        self.addresses += [value for name, value in attrs if name in ("href", "src", "action")]
        self._open.append(tag)
        if tag == "script":
            self.scripts.append("")

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self._open.pop()

    def handle_endtag(self, tag):
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data):
        if self._open[-1:] == ["script"]:
            self.scripts[-1] += data
        elif self._open[-1:] != ["style"]:
            self.words.append(data)

    @property
    def data(self):
        return json.loads(self.scripts[0])

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())
