"""Coverage of the core from gcovr's JSON: ``python .ci/merged_lines.py core.json``.

gcovr counts a line of a template once for every instantiation. Here a line is covered if any instantiation ran it.
"""

import json
import sys
from collections import defaultdict
from itertools import count, groupby
from pathlib import Path


def spans(lines: list[int]) -> str:
    """``[1, 2, 3, 7]`` as ``1-3, 7``."""
    place = count()
    runs = [list(run) for _, run in groupby(lines, key=lambda line: line - next(place))]
    return ", ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)


ran = defaultdict(lambda: defaultdict(bool))
for source in json.loads(Path(sys.argv[1]).read_text())["files"]:
    for line in source["lines"]:
        if not line.get("gcovr/noncode") and not line.get("gcovr/excluded"):
            ran[source["file"]][line["line_number"]] |= line["count"] > 0

for name, lines in sorted(ran.items()):
    if missing := sorted(number for number, reached in lines.items() if not reached):
        print(f"{name}: {spans(missing)}")
total, reached = (sum(choose(lines) for lines in ran.values()) for choose in (len, lambda lines: sum(lines.values())))
print(f"coverage of the core: {100 * reached / total:.1f} % of {total} lines")
