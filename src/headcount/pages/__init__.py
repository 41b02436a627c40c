"""Pages: one file each that a browser opens with no network, made from what is public already."""

from headcount.pages.document import Document
from headcount.pages.ledger_page import ledger_page
from headcount.pages.origin import Origin
from headcount.pages.release_page import release_page, write_page

__all__ = ["Document", "Origin", "ledger_page", "release_page", "write_page"]
