"""Progress on the terminal: one line that is rewritten; plain lines, now and then, where output is redirected."""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass, field
from typing import TextIO

EVERY = 10.0  # seconds between plain lines


@dataclass
class Progress:
    """Tells what is being done.

    ``begin`` names a study; ``say`` tells what it is doing; ``line`` is a message that stays.
    """

    stream: TextIO
    head: str = ""
    live: bool = field(init=False)
    _begun: float = 0.0
    _told: float = 0.0

    def __post_init__(self) -> None:
        self.live = self.stream.isatty()

    def begin(self, head: str) -> None:
        """A study begins."""
        self.head = head
        self._begun = self._told = time.monotonic()
        self._show(head) if self.live else self._write(f"{head} ...\n")

    def say(self, text: str) -> None:
        """What is being done; shown at once on a terminal, elsewhere at most every ten seconds."""
        now = time.monotonic()
        told = f"{self.head}, {now - self._begun:.0f} s: {text}"
        if self.live:
            self._show(told)
        elif now - self._told >= EVERY:
            self._told = now
            self._write(f"  {told}\n")

    def line(self, text: str) -> None:
        """A line that stays."""
        self.clear()
        self._write(f"{text}\n")

    def clear(self) -> None:
        """Empty the line that is rewritten."""
        if self.live:
            self._show("")
            self._write("\r")

    def _show(self, text: str) -> None:
        width = shutil.get_terminal_size().columns - 1
        self._write("\r" + text[:width].ljust(width))

    def _write(self, text: str) -> None:
        self.stream.write(text)
        self.stream.flush()
