"""The report of studies: valid HTML, with figures that a browser draws."""

import re
from itertools import pairwise

import numpy as np
import pytest

import toy_studies
from browser import CHROMIUM, looked_at
from southwell.cli import main
from southwell.studies import report, svg
from southwell.studies.axes import Axis, written
from southwell.studies.cards import cell, figure, judged
from southwell.studies.findings import Race, Source, Trace
from southwell.studies.papers import Registry, registry
from southwell.studies.runner import Runner
from southwell.studies.study import Claim


@pytest.fixture(scope="module")
def written_report(tmp_path_factory):
    """The report of the toy studies, and what ``write`` told."""
    import io

    from southwell.studies.progress import Progress

    out = tmp_path_factory.mktemp("report")
    known = toy_studies.registry()
    Runner(out, Progress(io.StringIO()), quick=True).run(known.studies.values())
    told = report.write(out, known)
    return (out / "report.html").read_text("utf-8"), told


def test_the_report_counts_every_outcome(written_report):
    page, told = written_report
    assert dict(told.counts) == {"holds": 1, "in part": 1, "fails": 1, "cannot tell": 1}
    assert told.faults == ()
    for name in ("T1", "T2", "T3", "T4"):
        assert page.count(f'id="{name}"') == 1
        assert f'href="#{name}"' in page
    assert re.search(r'class="fails" href="#T3"[^>]*><b>T3</b>fails<', page)  # told in words, not by colour alone


def test_figures_of_a_study_are_drawn_once(written_report):
    page, _ = written_report
    assert page.count('id="study-toy-first"') == 1
    assert page.count('href="#study-toy-first"') == 2  # in T2 and T4
    assert page.count("<figure>") == len(toy_studies.findings().races)
    assert "<summary>1 more figure</summary>" in page


def test_the_report_is_valid_html_without_scripts_and_outside_links(written_report):
    html5lib = pytest.importorskip("html5lib")
    page, _ = written_report
    html5lib.HTMLParser(strict=True).parse(page)
    names = re.findall(r' id="([^"]+)"', page)
    assert len(names) == len(set(names))
    levels = [int(level) for level in re.findall(r"<h([1-6])", page)]
    assert levels[0] == 1 and all(after - before <= 1 for before, after in pairwise(levels))
    assert not re.search(r"<script|<link|src=|https?://|url\(", page)
    assert "a &lt; b" in page and "greedy &lt;1&gt;" in page


def test_every_figure_has_an_alternative_text(written_report):
    page, _ = written_report
    plots = re.findall(r'<svg class="plot"[^>]*>\n<title>(.*?)</title>', page)
    assert len(plots) == page.count('class="plot"') == sum(len(r.views) for r in toy_studies.findings().races)
    assert page.count('role="img" aria-label="') == len(plots)


@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
@pytest.mark.parametrize(("width", "dark"), [(400, False), (1280, True)])
def test_a_browser_draws_it(written_report, tmp_path, width, dark):
    seen, console = looked_at(written_report[0], tmp_path, width, dark)
    assert console == ""
    assert seen["width"] == width and seen["wide"] <= width  # nothing but tables scrolls sideways
    assert seen["plots"] == sum(len(race.views) for race in toy_studies.findings().races)
    assert all(min(size) > 10 for size in seen["sizes"])
    assert seen["links"] > 8 and seen["dead"] == []
    assert (seen["background"] == "rgb(255, 255, 255)") != dark


@pytest.fixture(scope="module")
def quick_page(tmp_path_factory):
    """The page that the command writes after a quick run of the fastest studies."""
    out = tmp_path_factory.mktemp("quick")
    studies = ("dgpd-theorem", "sampling-theorems", "spdc-sampling", "hybrid-graph")
    assert main(["reproduce", *studies, "--quick", "--out", str(out)]) == 0
    return (out / "report.html").read_text("utf-8")


@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
@pytest.mark.parametrize(("width", "dark"), [(390, True), (1200, False)])
def test_a_browser_draws_the_page_of_a_quick_run(quick_page, tmp_path, width, dark):
    pytest.importorskip("html5lib").HTMLParser(strict=True).parse(quick_page)
    seen, console = looked_at(quick_page, tmp_path, width, dark)
    assert console == "" and seen["dead"] == []
    assert seen["wide"] <= seen["width"] == width
    assert seen["plots"] == 2 and all(min(size) > 10 for size in seen["sizes"])
    assert seen["links"] > len(registry().claims)


def test_a_figure_tells_where_its_data_came_from():
    sources = [
        Source("rcv1", "stand-in", (9, 9), "20news instead of rcv1: 20news_counts.npz"),
        Source("rcv1*", "synthetic", (9, 9), "generated"), Source("news20.binary", "paper", (9, 9)),
    ]  # fmt: skip

    def told(title, given=sources):
        return re.findall('<span class="kind">(.*?)</span>', figure(Race(title, []), given))

    assert told("Lasso, rcv1") == ["20news instead of rcv1"]
    assert told("Lasso, rcv1*") == ["synthetic"]
    assert told("news20, l2 = 1") == ["the paper&#x27;s data"]
    assert told("d = 100") == told("rcv1", []) == []
    assert told("d = 100", sources[1:2]) == ["synthetic"]


def test_a_claim_whose_study_was_not_run_cannot_be_told():
    verdict, fault = judged(toy_studies.claim("T", "holds", "toy-first"), {})
    assert (verdict.outcome, fault) == ("cannot tell", "")
    assert "southwell reproduce toy-first" in verdict.because


@pytest.mark.parametrize("judge", [lambda found: found["other"], lambda found: "holds"])
def test_a_judge_that_fails_is_told(judge):
    claim = Claim("T", "dgpd", "section 1", "It is so.", ("toy",), judge)
    verdict, fault = judged(claim, {"toy": toy_studies.findings()})
    assert verdict.outcome == "cannot tell"
    assert "could not be computed" in verdict.because and fault.startswith("claim T: ")


def test_a_report_of_nothing_is_a_report(tmp_path):
    told = report.write(tmp_path, Registry({}, ()))
    assert "No study has been run" in told.path.read_text("utf-8")


def test_a_damaged_trace_file_is_told_and_the_rest_is_drawn(tmp_path):
    (tmp_path / "traces").mkdir()
    (tmp_path / "traces" / "toy-first.json").write_text('{"format": 1')
    told = report.write(tmp_path, toy_studies.registry())
    assert len(told.faults) == 1 and "damaged" in told.faults[0] and "southwell reproduce toy-first" in told.faults[0]
    assert told.counts["cannot tell"] == 4


def test_curves_of_awkward_values_are_drawn_within_the_axes():
    error = np.array([1.0, np.inf, 1e-3, np.nan, 0.0, 1e-300, -1e-9])
    trace = Trace("t", "paper", {"epoch": np.arange(7), "error": error})
    for logarithmic in ("", "x", "y", "xy"):
        drawn = svg.panel(Race("r", [trace], logarithmic=logarithmic), "epoch", "error")
        points = np.array(re.findall(r"[ \"](-?[\d.]+),(-?[\d.]+)", drawn), dtype=float)
        assert len(points) >= 2
        assert (points >= 0).all() and (points[:, 0] <= svg.WIDTH).all() and (points[:, 1] <= svg.HEIGHT).all()
        assert "nan" not in drawn and "inf" not in drawn


def test_a_race_without_points_is_an_empty_frame():
    empty = Trace("t", "paper", {"epoch": np.array([]), "error": np.array([])})
    assert "polyline" not in svg.panel(Race("r", [empty, Trace("u", "paper", {})]), "epoch", "error")


def test_ticks_are_round_and_within_the_axis():
    for low, high in [(0.0, 1.0), (0.0, 7.3), (-2.0, 5e4), (3.0, 3.0), (999.0, 1000.0)]:
        axis = Axis.over([np.array([low, high])], False)
        ticks = axis.ticks()
        assert 2 <= len(ticks) <= 8
        assert all(axis.low - 1e-9 * abs(low) <= value <= axis.high * (1 + 1e-9) for value, _ in ticks)
        assert len({text for _, text in ticks}) == len(ticks)
    for low, high in [(1e-12, 1.0), (0.2, 0.3), (1.0, 1.0), (1e-300, 1e300), (2.0, 5000.0)]:
        axis = Axis.over([np.array([low, high])], True)
        ticks = axis.ticks()
        assert 2 <= len(ticks) <= 8
        assert len({text for _, text in ticks}) == len(ticks)
    assert Axis.over([np.array([1e-8, 1.0])], True).ticks()[-1] == (1.0, "10⁰")
    assert [written(v) for v in (0.0, 0.05, 20_000.0, 1e7, 2.5e-5)] == ["0", "0.05", "20,000", "1·10⁷", "2.5·10⁻⁵"]


def test_cells_are_short():
    given = [None, True, 12345, 0.123456, float("inf"), 123456.7, 1e-9, np.float32(0.5), [1, 2.5], "text"]
    shown = ["", "yes", "12,345", "0.123", "-", "123,457", "1e-09", "0.5", "1, 2.5", "text"]
    assert [cell(value) for value in given] == shown
