"""Prints the oldest versions that pyproject.toml allows, as requirements: build, run time, and the tests' extras."""

import re
import tomllib
from pathlib import Path

EXTRAS = ("test", "plot", "search")


def oldest(requirement: str) -> str:
    """``name>=1.2`` as ``name==1.2``."""
    if not (parts := re.fullmatch(r"([A-Za-z0-9_.-]+)>=([0-9][0-9.]*)", requirement.replace(" ", ""))):
        raise SystemExit(f"{requirement!r} in pyproject.toml must have the form name>=version, its oldest version.")
    return f"{parts[1]}=={parts[2]}"


def requirements() -> list[str]:
    """All of them, once each."""
    stated = tomllib.loads((Path(__file__).resolve().parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
    project, extras = stated["project"], stated["project"]["optional-dependencies"]
    needed = [*stated["build-system"]["requires"], *project["dependencies"], *(r for e in EXTRAS for r in extras[e])]
    return list(dict.fromkeys(map(oldest, needed)))


if __name__ == "__main__":
    print("\n".join(requirements()))
