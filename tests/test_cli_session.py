"""The session on the page of the command line runs, and prints what is shown."""

import re
import shlex
from pathlib import Path

import numpy as np
import pytest

import code_blocks
from southwell.cli import main

PAGE = Path(__file__).resolve().parents[1] / "docs" / "command.md"
SESSION = re.findall(r"^```console\n\$ southwell (.*)\n((?:.*\n)*?)```", PAGE.read_text(encoding="utf-8"), re.MULTILINE)


def test_the_session(tmp_path, monkeypatch, capsys, pyplot):
    monkeypatch.chdir(tmp_path)
    code_blocks.run(PAGE)
    capsys.readouterr()
    assert len(SESSION) == 4
    for command, shown in SESSION:
        assert main(shlex.split(command)) == 0
        out, err = capsys.readouterr()
        assert [line.split() for line in code_blocks.NUMBER.sub("#", out + err).splitlines()] == [
            line.split() for line in code_blocks.NUMBER.sub("#", shown).splitlines()
        ]
        printed, known = (np.array(code_blocks.NUMBER.findall(text), float) for text in (out + err, shown))
        np.testing.assert_allclose(printed, known, rtol=1e-2, atol=1e-5)


@pytest.mark.parametrize("row", re.findall(r"^\| `southwell (\w+)", PAGE.read_text(encoding="utf-8"), re.MULTILINE))
def test_every_command_of_the_table_has_help(row, capsys):
    with pytest.raises(SystemExit) as leaving:
        main([row, "--help"])
    assert leaving.value.code == 0 and f"southwell {row}" in capsys.readouterr().out
