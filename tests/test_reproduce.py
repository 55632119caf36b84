"""``southwell reproduce``: it resumes, keeps what is done, and tells what went wrong."""

import argparse
import errno
import io
import json
import math

import numpy as np
import pytest

import toy_studies
from southwell import __version__
from southwell.cli import main
from southwell.studies import command, progress, runner, store
from southwell.studies.findings import Findings
from southwell.studies.papers import registry
from southwell.studies.study import Study, Verdict


def reproduce(known, *arguments) -> int:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    return command.run(parser.parse_args(list(map(str, arguments))), known)


def traces(out) -> set[str]:
    return {path.name for path in (out / "traces").iterdir()}


def raising(error):
    def run(bench):
        raise error

    return Study("toy-first", "dgpd", "It raises", "section 1", run)


def same(one, other) -> bool:
    """Equal in types and values, with nan equal to nan."""
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
    if isinstance(one, float) and isinstance(other, float):
        return one == other or (math.isnan(one) and math.isnan(other))
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if hasattr(one, "__dataclass_fields__"):
        return type(one) is type(other) and same(vars(one), vars(other))
    return type(one) is type(other) and one == other


def test_findings_are_read_back_as_they_were():
    found = toy_studies.findings()
    text = json.dumps(store.pack(found), allow_nan=False)
    assert same(store.unpack(json.loads(text)), found)


def test_floats_and_arrays_of_every_kind_are_read_back_exactly():
    rng = np.random.default_rng(0)
    bits = rng.integers(2**64, size=500, dtype=np.uint64).view(np.float64)
    singles = rng.integers(2**32, size=500, dtype=np.uint32).view(np.float32)
    for given in (bits, np.arange(6).reshape(2, 3), np.array([True, False]), np.array(["a", "ß"]),
                  np.array([]), np.array([-0.0, 5e-324]), singles, [2**70, -1, "$array", {"$array": 1}]):  # fmt: skip
        read = store.unpack(json.loads(json.dumps(store.pack(given), allow_nan=False)))
        assert same(read, given)
    assert math.copysign(1, store.unpack(store.pack(-0.0))) == -1


def test_findings_of_other_types_are_refused():
    with pytest.raises(TypeError, match="numbers, text"):
        store.pack({"a": object()})


def test_a_run_resumes(tmp_path, capsys):
    known = toy_studies.registry()
    assert reproduce(known, "toy-second", "--out", tmp_path, "--quick") == 0
    before = store.read(tmp_path / "traces" / "toy-second.json")
    assert (before.study, before.quick, before.seed, before.version) == ("toy-second", True, 0, __version__)
    capsys.readouterr()
    assert reproduce(known, "--out", tmp_path, "--quick") == 0
    told = capsys.readouterr().out
    assert "toy-second: kept from" in told and "toy-first: kept" not in told
    assert reproduce(known, "spdc", "--out", tmp_path, "--quick", "--again") == 0
    assert "kept" not in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [[], ["--quick", "--seed", "1"]])
def test_other_sizes_and_seeds_are_run_again(tmp_path, capsys, arguments):
    known = toy_studies.registry()
    assert reproduce(known, "spdc", "--out", tmp_path, "--quick") == 0
    assert reproduce(known, "spdc", "--out", tmp_path, *arguments) == 0
    assert "kept" not in capsys.readouterr().out
    record = store.read(tmp_path / "traces" / "toy-second.json")
    assert record.findings.numbers == {"seconds": 2.0, "quick": bool(arguments), "seed": len(arguments) // 2}


def test_another_version_and_new_data_are_run_again(tmp_path, monkeypatch, capsys):
    known = toy_studies.registry()
    assert reproduce(known, "dgpd", "--out", tmp_path) == 0
    monkeypatch.setattr(runner.datasets, "kind", lambda name, folder: "paper")  # and it was a stand-in
    capsys.readouterr()
    assert reproduce(known, "dgpd", "--out", tmp_path) == 0
    assert "kept" not in capsys.readouterr().out
    monkeypatch.undo()
    monkeypatch.setattr(runner, "__version__", "another")
    assert reproduce(known, "dgpd", "--out", tmp_path) == 0
    assert "kept" not in capsys.readouterr().out


def test_what_was_found_with_the_papers_data_is_kept_when_their_files_are_gone(tmp_path, monkeypatch):
    run = runner.Runner(tmp_path, progress.Progress(io.StringIO()))
    for now in ("paper", "stand-in", "synthetic"):
        monkeypatch.setattr(runner.datasets, "kind", lambda name, folder, now=now: now)
        assert not run.newer("rcv1", "paper") and not run.newer("blobs", "synthetic")
        assert run.newer("rcv1", "stand-in") == (now == "paper")


def test_files_that_are_missing_are_told_once_with_what_was_used(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(runner.datasets, "folders", lambda first=None: [] if first is None else [first])

    def both(bench):
        bench.data("rcv1", rows=30)
        return Findings()

    known = toy_studies.registry(
        *(Study(name, "dgpd", "It needs data", "here", both) for name in ("toy-first", "toy-second"))
    )
    (tmp_path / "empty").mkdir()
    assert reproduce(known, "--data", tmp_path / "empty", "--out", tmp_path / "out") == 0
    told = capsys.readouterr().out
    assert told.count(str(tmp_path / "empty")) == told.count("No file of rcv1 (rcv1 or rcv1_train.binary)") == 1
    assert store.read(tmp_path / "out" / "traces" / "toy-first.json").sources[0].kind == "synthetic"


def test_a_study_that_raises_is_told_and_the_others_go_on(tmp_path, capsys):
    known = toy_studies.registry(raising(ValueError("no such thing")), toy_studies.SECOND)
    assert reproduce(known, "--out", tmp_path) == 1
    told = capsys.readouterr()
    assert "toy-first failed: ValueError: no such thing (test_reproduce.py, line" in told.err
    assert "toy-second" in told.out and "FAILED" in told.out
    assert traces(tmp_path) == {"toy-second.json"}
    assert (tmp_path / "report.html").is_file()


def test_a_study_that_returns_nothing_is_told(tmp_path, capsys):
    broken = Study("toy-first", "dgpd", "It returns nothing", "section 1", lambda bench: None)
    assert reproduce(toy_studies.registry(broken), "--out", tmp_path) == 1
    assert "A study returns Findings; toy-first returned NoneType." in capsys.readouterr().err


def test_notes_of_the_bench_join_those_of_the_study(tmp_path):
    def run(bench):
        bench.notes.append("Not proven.")
        return Findings(notes=("Half.",))

    known = toy_studies.registry(Study("toy-first", "dgpd", "Notes", "section 1", run), toy_studies.SECOND)
    assert reproduce(known, "--out", tmp_path) == 0
    assert store.read(tmp_path / "traces" / "toy-first.json").findings.notes == ("Half.", "Not proven.")


def test_ctrl_c_inside_a_study_keeps_what_is_done(tmp_path, capsys):
    interrupted = Study("toy-third", "spdc", "It is interrupted", "section 3", raising(KeyboardInterrupt()).run)
    known = toy_studies.registry(toy_studies.FIRST, interrupted, toy_studies.SECOND)
    with pytest.raises(KeyboardInterrupt):
        reproduce(known, "--out", tmp_path)
    assert traces(tmp_path) == {"toy-first.json"}
    assert "The same command goes on from there" in capsys.readouterr().out


def test_ctrl_c_between_studies_keeps_what_is_done(tmp_path, monkeypatch):
    def interrupted(self, head):
        if "toy-second" in head:
            raise KeyboardInterrupt

    monkeypatch.setattr(progress.Progress, "begin", interrupted)
    with pytest.raises(KeyboardInterrupt):
        reproduce(toy_studies.registry(), "--out", tmp_path)
    assert traces(tmp_path) == {"toy-first.json"}


def test_ctrl_c_ends_the_command_with_130(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(command, "registry", lambda: toy_studies.registry(raising(KeyboardInterrupt())))
    assert main(["reproduce", "--out", str(tmp_path)]) == 130
    assert "Interrupted." in capsys.readouterr().err


@pytest.mark.parametrize(
    "damage", [b"", b"\xff\xfe", b"[1]", b'{"format": 2}', b'{"format": 1, "study": "toy-second"}', b'{"a":' * 9000]
)
def test_a_damaged_trace_file_is_told_and_run_again(tmp_path, capsys, damage):
    known = toy_studies.registry()
    path = tmp_path / "traces" / "toy-second.json"
    path.parent.mkdir()
    path.write_bytes(damage)
    assert reproduce(known, "spdc", "--out", tmp_path) == 0
    assert "damaged" in capsys.readouterr().out
    assert store.read(path).study == "toy-second"


def test_a_trace_file_with_any_byte_changed_is_read_or_refused(tmp_path):
    path = tmp_path / "traces" / "toy-second.json"
    assert reproduce(toy_studies.registry(), "spdc", "--out", tmp_path) == 0
    text = path.read_bytes()
    for cut in range(0, len(text) - 1, 7):
        path.write_bytes(text[:cut])
        with pytest.raises(store.Damaged):
            store.read(path)
    rng = np.random.default_rng(0)
    for at in rng.integers(len(text), size=300):
        path.write_bytes(text[:at] + bytes([rng.integers(256)]) + text[at + 1 :])
        try:
            assert isinstance(store.read(path).findings, Findings)
        except store.Damaged as damaged:
            assert str(path) in str(damaged)


@pytest.mark.parametrize(
    ("number", "words"), [(errno.ENOSPC, "no room left on the disk"), (errno.EIO, "/output error")]
)
def test_a_full_disk_ends_the_run_and_keeps_what_is_done(tmp_path, monkeypatch, capsys, number, words):
    def full(descriptor):
        raise OSError(number, "input/output error")

    def filling(bench):
        monkeypatch.setattr("os.fsync", full)
        return toy_studies.second(bench)

    known = toy_studies.registry(toy_studies.FIRST, Study("toy-second", "spdc", "It fills the disk", "here", filling))
    assert reproduce(known, "--out", tmp_path) == 1
    told = capsys.readouterr().err
    assert words in told and "toy-second" in told and "The studies that ended before are kept" in told
    assert traces(tmp_path) == {"toy-first.json"}
    monkeypatch.undo()
    assert reproduce(toy_studies.registry(), "--out", tmp_path) == 0


def test_a_report_that_cannot_be_written_is_told(tmp_path, capsys):
    (tmp_path / "report.html").mkdir()
    assert reproduce(toy_studies.registry(), "--out", tmp_path) == 1
    told = capsys.readouterr().err
    assert "The report could not be written" in told
    assert f"The findings are kept; then: southwell reproduce --report-only --out {tmp_path}" in told
    assert len(traces(tmp_path)) == 2


def test_a_report_without_findings_is_refused(tmp_path, capsys):
    assert reproduce(toy_studies.registry(), "--report-only", "--out", tmp_path / "none") == 1
    assert "There are no findings in" in capsys.readouterr().err
    assert not (tmp_path / "none").exists()


def test_a_folder_that_cannot_be_made_is_told_before_anything_runs(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    known = toy_studies.registry(raising(AssertionError("it ran")))
    assert reproduce(known, "--out", tmp_path / "file" / "out") == 1
    assert "cannot be written to" in capsys.readouterr().err


def test_only_the_report_is_drawn_again(tmp_path, capsys):
    known = toy_studies.registry()
    assert reproduce(known, "--out", tmp_path) == 0
    (tmp_path / "report.html").unlink()
    stopped = toy_studies.registry(raising(AssertionError("it ran")), toy_studies.SECOND)
    assert reproduce(stopped, "--out", tmp_path, "--report-only") == 0
    assert "T4" in (tmp_path / "report.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["toy-frist"], "Unknown study or paper 'toy-frist'. Did you mean 'toy-first'? Known: dgpd, dspdc, hybrid"),
        (["dgdp"], "Did you mean 'dgpd'?"),
        (["--data", "no/such/folder"], "--data no/such/folder is not a folder"),
    ],
)
def test_wrong_arguments_are_told(tmp_path, capsys, arguments, words):
    assert reproduce(toy_studies.registry(), "--out", tmp_path / "out", *arguments) == 2
    assert words in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("seed", ["-1", "x", "1.5", "", str(2**63)])
def test_a_wrong_seed_is_told(seed, capsys):
    with pytest.raises(SystemExit) as leaving:
        main(["reproduce", "--seed", seed])
    assert leaving.value.code == 2
    assert "--seed: it must be an integer >= 0 and below 2**63; got" in capsys.readouterr().err


def test_papers_studies_and_claims_are_listed(capsys):
    assert reproduce(toy_studies.registry(), "--list") == 0
    told = capsys.readouterr().out
    assert "toy-first" in told and "T1, T2, T4" in told and "spdc: Y. Zhang" in told
    assert reproduce(toy_studies.registry(), "spdc", "--list") == 0
    told = capsys.readouterr().out
    assert "toy-second" in told and "toy-first" not in told and "dgpd:" not in told


def test_a_terminal_sees_one_line_and_files_see_few(monkeypatch):
    terminal, file = io.StringIO(), io.StringIO()
    terminal.isatty = lambda: True
    for stream in (terminal, file):
        told = progress.Progress(stream)
        told.begin("[1/1] toy")
        told.say("method 1")
        told.say("method 2")
        told.line("[1/1] toy: 1.0 s")
    assert terminal.getvalue().count("\n") == 1
    assert "method 2" in terminal.getvalue() and terminal.getvalue().rpartition("\r")[2] == "[1/1] toy: 1.0 s\n"
    assert file.getvalue() == "[1/1] toy ...\n[1/1] toy: 1.0 s\n"
    later = progress.Progress(file)
    later.begin("[1/1] toy")
    monkeypatch.setattr(progress, "EVERY", 0.0)
    later.say("method 3")
    assert file.getvalue().endswith("method 3\n")


def test_a_verdict_is_one_of_four():
    with pytest.raises(ValueError, match="holds, in part, fails, cannot tell"):
        Verdict("perhaps", "because")


def test_all_claims_of_the_papers_are_judged():
    numbers = {"D": 10, "A": 9, "S": 11, "P": 7, "H": 11}  # DGPD, adaptive sampling, SPDC, DSPDC, hybrid
    expected = [f"{letter}{k}" for letter, most in numbers.items() for k in range(1, most + 1)]
    assert [claim.name for claim in registry().claims] == expected
