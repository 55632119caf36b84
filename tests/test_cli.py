"""The southwell command: what it prints, and how it leaves."""

import io
import re
import subprocess
import sys

import pytest

import southwell as sw
from southwell.cli import demo, main

COMMAND = [sys.executable, "-c", "import sys; from southwell.cli import main; sys.exit(main())"]
ROW = re.compile(r"  (L\S.*?) {2,}(\w+(?:\+\w+)*) +(\d+\.\d+) +(\S+) +(\d+) of ([\d,]+) +(\S+)%")


def check_demo(text: str) -> None:
    assert not set(text) & {"\r", "\x1b"}
    assert text.splitlines()[0].split() == list(demo.HEADER)
    rows = [match.groups() for match in map(ROW.fullmatch, text.splitlines()) if match]
    assert [row[0] for row in rows] == [*demo.BREAST_CANCER, *demo.DIGITS]
    for _, _, _, gap, nonzeros, features, accuracy in rows:
        assert float(gap) <= 1e-6
        assert 0 < int(nonzeros) <= int(features.replace(",", ""))
        assert 90 < float(accuracy) <= 100
    assert "P(x) - D(y)" in text
    assert "sw.solve(A, b" in text
    assert max(map(len, text.splitlines())) <= 80


def test_the_demo_runs_in_process(capsys):
    assert main(["demo"]) == 0
    out, err = capsys.readouterr()
    check_demo(out)
    assert err == ""


def test_the_demo_can_be_piped():
    done = subprocess.run([*COMMAND, "demo"], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    check_demo(done.stdout)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows reports a closed pipe in another way")
@pytest.mark.parametrize("arguments", [["demo"], ["--help"], []])
def test_a_reader_that_leaves_early_causes_no_traceback(arguments):
    with subprocess.Popen([*COMMAND, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait(timeout=120) == 0


def test_a_terminal_sees_progress_and_a_clean_line_at_the_end(monkeypatch):
    terminal = io.StringIO()
    terminal.isatty = lambda: True
    monkeypatch.setattr(sys, "stdout", terminal)
    monkeypatch.setattr(demo, "DIGITS", {})
    assert main(["demo"]) == 0
    assert re.search(
        r"\rBreast cancer, L1 logistic: epoch \d+, gap \S+, \d+ features, \d+\.\d s *\r", terminal.getvalue()
    )
    assert terminal.getvalue().rpartition("\r")[2].startswith("  model")


@pytest.mark.parametrize("error", [KeyboardInterrupt, sw.Interrupted])
def test_interruption_exits_with_130(monkeypatch, capsys, error):
    def interrupted(*_, **__):
        raise error

    monkeypatch.setattr(demo, "solve", interrupted)
    assert main(["demo"]) == 130
    assert capsys.readouterr().err.strip() == "Interrupted."


def test_the_version_is_printed(capsys):
    with pytest.raises(SystemExit) as leaving:
        main(["--version"])
    assert leaving.value.code == 0
    assert capsys.readouterr().out == f"southwell {sw.__version__}\n"


def test_without_arguments_it_prints_help(capsys):
    assert main([]) == 0
    out = capsys.readouterr().out
    assert out.startswith("usage: southwell")
    assert "demo" in out


def test_an_unknown_command_is_refused_with_a_guess(capsys):
    with pytest.raises(SystemExit) as leaving:
        main(["dmeo"])
    assert leaving.value.code == 2
    assert "Unknown command 'dmeo'. Did you mean 'demo'?" in capsys.readouterr().err
