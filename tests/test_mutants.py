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
