"""Are two wheels the same, byte for byte? Says which members differ, and ends with 1 if any do."""

import sys
import zipfile
from pathlib import Path


def differences(one: Path, other: Path) -> list[str]:
    """What differs, in words; nothing if the files are equal."""
    if one.name != other.name:
        return [f"the names: {one.name}, {other.name}"]
    if one.read_bytes() == other.read_bytes():
        return []
    with zipfile.ZipFile(one) as a, zipfile.ZipFile(other) as b:
        if a.namelist() != b.namelist():
            return [f"the members or their order: {sorted(set(a.namelist()) ^ set(b.namelist()))}"]
        told = [f"the bytes of {name}" for name in a.namelist() if a.read(name) != b.read(name)]
        told += [
            f"what the archive says of {x.filename}"
            for x, y in zip(a.infolist(), b.infolist(), strict=True)
            if (x.date_time, x.external_attr, x.compress_type) != (y.date_time, y.external_attr, y.compress_type)
        ]
    return told or ["something outside the members"]


if __name__ == "__main__":
    found = differences(*map(Path, sys.argv[1:3]))
    print("\n".join(["The wheels differ in", *found]) if found else "The wheels are the same, byte for byte.")
    sys.exit(bool(found))
