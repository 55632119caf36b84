"""Appended to scikit-learn's conftest.py by the runner."""

import pytest
from not_met import reason


def pytest_runtest_setup(item):
    """Tests that are deliberately not met may fail; pytest -rX tells those that do not."""
    why = reason(item.path.stem, item.originalname, item.name)
    if why is not None:
        item.add_marker(pytest.mark.xfail(reason=why, strict=False))
