"""The list of deliberate faults fits the sources and the tests that it names."""

import re
import runpy
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
FAULTS = runpy.run_path(str(TESTS / "mutants" / "faults.py"), run_name="faults")["FAULTS"]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_fault_names_code_that_occurs_once_and_tests_that_exist(fault):
    assert (TESTS.parent / fault.file).read_text().count(fault.old) == 1
    for test in fault.tests.split():
        file, _, name = test.partition("::")
        assert re.search(rf"^def {name or 'test_'}", (TESTS / file).read_text(), re.MULTILINE), test


STATEMENT_AHEAD = re.compile(r"(^|[{;)]|\belse)\s*$")  # what may stand before a statement on its line


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_fault_replaces_a_whole_statement_or_an_expression(fault):
    """A statement gets an ``if`` around it, an expression a conditional operator: anything else does not compile."""
    ahead = (TESTS.parent / fault.file).read_text().partition(fault.old)[0].rpartition("\n")[2]
    if fault.old.endswith(";"):
        assert fault.new.endswith(";")
        assert STATEMENT_AHEAD.search(ahead), ahead
        assert not re.match(r"(const )?(auto|bool|Real|Index)&? \w+ =", fault.old), "a declaration, lost after the if"
    else:
        assert not fault.new.endswith(";")
        for code in (fault.old, fault.new):
            assert not re.match(r"(return|if|for)\b|\.|.*[(,=]\s*$", code), "a part of an expression"
            assert code.count("(") == code.count(")"), "a part of an expression"
