"""Pages: single files that a browser opens offline, made only from what is already public."""

from headcount.pages.document import Document
from headcount.pages.ledger_page import ledger_page
from headcount.pages.origin import Origin
from headcount.pages.release_page import release_page, write_page

__all__ = ["Document", "Origin", "ledger_page", "release_page", "write_page"]
