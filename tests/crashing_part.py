"""A part for the fuzzers' workers, some of whose cases crash, hang, or find something."""

import os
import signal
import time
from collections import Counter

from fuzz.report import Finding


class Case:
    def __init__(self, number: int):
        self.number, self.key = number, f"case {number % 10}"

    def run(self):
        if self.number % 10 == 3:
            os.kill(os.getpid(), signal.SIGSEGV)
        if self.number == 5:
            time.sleep(3600)
        found = [Finding("wrong", "seven", "detail")] if self.number == 7 else []
        return found, Counter({"run": 1})


def make(seed: int, number: int) -> Case:
    return Case(number)
