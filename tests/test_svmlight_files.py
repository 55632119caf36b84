"""Files of SVMlight and LIBSVM are read as scikit-learn reads them, bit for bit; wrong ones are refused in words."""

import bz2
import gzip
import io
import lzma
import threading
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

import southwell as sw
from southwell.data import formats, streams

NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.floats(allow_nan=False, allow_infinity=False).map("{:.17e}".format),
    st.decimals(allow_nan=False, allow_infinity=False, places=4).map(str).filter(lambda t: "E" not in t),
    st.from_regex(r"\A[-+]?[0-9]{1,25}(\.[0-9]{0,25})?([eE][-+]?[0-9]{1,3})?\Z"),
).filter(lambda text: np.isfinite(float(text)))
INDICES = st.sets(st.integers(0, 40) | st.integers(0, 2**31 - 3), max_size=6).map(sorted)
BLANKS = st.sampled_from([" ", "  ", "\t", " \t "])


def written(tmp_path, content, name="data.svm"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@st.composite
def lines(draw, base=0):
    row = draw(NUMBERS)
    for index in draw(INDICES):
        row += f"{draw(BLANKS)}{index + base}:{draw(NUMBERS)}"
    return row + draw(st.sampled_from(["", " ", " # words 1:2", "#", "\r"])) + "\n"


def same_as_scikit_learn(path, **options):
    A, b = sw.data.load(path, n_threads=1, **options)
    theirs, y = load_svmlight_file(str(path), **options)
    assert A.shape == theirs.shape
    for name in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(A, name), getattr(theirs, name))
    np.testing.assert_array_equal(b, y)
    assert A.indices.dtype == np.int32


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(lines() | st.sampled_from(["\n", "# words\n", "  \n"]), min_size=1, max_size=8),
    base=st.sampled_from([0, 1]),
)
def test_rows_are_those_of_scikit_learn(tmp_path_factory, rows, base):
    if not any(row.strip() and not row.startswith("#") for row in rows):
        rows.append("1 3:1\n")
    rows.append("0 1:1\n" if base else "0 0:1 1:2\n")
    path = written(tmp_path_factory.mktemp("rows"), "".join(rows))
    same_as_scikit_learn(path)
    same_as_scikit_learn(path, zero_based=True)


@pytest.mark.parametrize("form", [repr, "{:.6f}".format, "{:.17g}".format, "{:.25e}".format, "{:.3e}".format])
@pytest.mark.parametrize("kind", ["normal", "any bits", "all exponents"])
def test_numbers_are_the_doubles_that_float_gives(tmp_path, form, kind):
    rng = np.random.default_rng(1)
    values = {
        "normal": rng.normal(size=20_000), "any bits": rng.integers(0, 2**63, 20_000).view(np.float64),
        "all exponents": rng.normal(size=20_000) * 10.0 ** rng.integers(-320, 307, 20_000),
    }[kind]  # fmt: skip
    texts = [text for text in map(form, values[np.isfinite(values)].tolist()) if np.isfinite(float(text))]
    A, _ = sw.data.load(written(tmp_path, "".join(f"0 1:{text}\n" for text in texts)))
    np.testing.assert_array_equal(A.data.view(np.int64), np.array(list(map(float, texts))).view(np.int64))


HALFWAY = [
    "9007199254740993", "9007199254740993.0000000000000000000000000001", "2.2250738585072011e-308", "5e-324",
    "2.4703282292062327e-324", "2.4703282292062328e-324", "1e-400", "1.7976931348623157e308", "0e999999999999999999",
    "1.7976931348623158e308", "00000000000000000000000000001.5", "0.000000000000000000000000000001e30", "1e23",
    "8.5e22", "123456789012345678", "12345678901234567890123456789e-20", "." + "0" * 400 + "1e400", "-0", "+.5", "5.",
]  # fmt: skip


@pytest.mark.parametrize("text", HALFWAY)
def test_hard_numbers_are_those_of_float(tmp_path, text):
    A, _ = sw.data.load(written(tmp_path, f"0 1:{text}\n"))
    assert A.data.tobytes() == np.float64(float(text)).tobytes()


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("chunk", [4096, 1 << 20])
def test_threads_and_chunks_change_nothing(tmp_path, monkeypatch, threads, chunk):
    monkeypatch.setattr(streams, "CHUNK", chunk)
    rng = np.random.default_rng(2)
    dense = np.round(rng.normal(size=(9000, 30)), 3) * (rng.random((9000, 30)) < 0.5)
    path = tmp_path / "large.svm"
    dump_svmlight_file(dense, np.arange(9000.0), str(path), zero_based=False, query_id=np.arange(9000) // 7)
    assert path.stat().st_size > 3 * 2**18  # several pieces for each thread
    data = sw.data.load(path, n_threads=threads, comments=True)
    np.testing.assert_array_equal(data.A.toarray(), dense)
    np.testing.assert_array_equal(data.targets, np.arange(9000.0))
    np.testing.assert_array_equal(data.qid, np.arange(9000) // 7)
    assert data.comments == [""] * 9000


@pytest.mark.parametrize("end", ["", "\n", "\r\n", "\n\n\n"])
def test_the_last_line_may_end_in_any_way(tmp_path, end):
    A, b = sw.data.load(written(tmp_path, "1 1:2\n2 2:3" + end))
    assert A.toarray().tolist() == [[2, 0], [0, 3]] and b.tolist() == [1, 2]


def zstd(content: bytes) -> bytes:
    return pytest.importorskip("zstandard").compress(content)


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress, zstd], ids=lambda f: f.__module__)
@pytest.mark.parametrize("parts", [1, 3])
def test_compressed_files_are_told_by_content(tmp_path, compress, parts):
    row = b"1 1:0.5 3:2\n" * 1000
    A, b = sw.data.load(written(tmp_path, compress(row) * parts, "no name tells"), n_threads=2)
    assert A.shape == (1000 * parts, 3) and b.size == 1000 * parts


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress, zstd], ids=lambda f: f.__module__)
def test_damaged_compression_is_refused(tmp_path, compress):
    content = compress(b"".join(b"1 1:%d\n" % k for k in range(5000)))
    with pytest.raises(ValueError, match="damaged or cut"):
        sw.data.load(written(tmp_path, content[: len(content) // 2]))


@pytest.mark.parametrize("compress", [bz2.compress, lzma.compress, zstd], ids=lambda f: f.__module__)
def test_bombs_are_refused(tmp_path, monkeypatch, compress):
    monkeypatch.setattr(streams, "UNSUSPECTED", 1 << 20)
    with pytest.raises(ValueError, match="1000 times its size"):
        sw.data.load(written(tmp_path, compress(b"1 1:1\n" + b"\n" * (6 << 20)), "bomb.svm"))


def test_several_targets_a_row_become_an_indicator_matrix(tmp_path):
    path = written(tmp_path, "1,3 1:1\n 2:1\n-2.5 1:1\n3,3,1 2:1 # twice\n")
    data = sw.data.load(path)
    assert data.classes.tolist() == [-2.5, 1, 3]
    assert data.targets.toarray().tolist() == [[0, 1, 1], [0, 0, 0], [1, 0, 0], [0, 1, 1]]
    _, y = load_svmlight_file(str(path), multilabel=True)
    assert [tuple(data.classes[row.indices]) for row in data.targets] == [tuple(sorted(set(labels))) for labels in y]


def test_one_target_a_row_may_be_called_several(tmp_path):
    data = sw.data.load(written(tmp_path, "1 1:1\n2 1:1\n"), multilabel=True)
    assert data.targets.toarray().tolist() == [[1, 0], [0, 1]]


def test_comments_and_queries_are_kept(tmp_path):
    data = sw.data.load(written(tmp_path, "1 qid:7 1:1 # the first \xe9 # one\n0 qid:-3 2:1\n1 qid:7\n"), comments=True)
    assert data.comments == ["the first \xe9 # one", "", ""]
    assert data.qid.tolist() == [7, -3, 7]


@pytest.mark.parametrize(
    ("base", "columns"), [("auto", [1, 2]), (True, [1, 2]), (False, [0, 1])], ids=["auto", "zero", "one"]
)
def test_indices_begin_where_they_are_said_to(tmp_path, base, columns):
    given = "1 1:5 2:6\n" if base != "auto" else "1 1:5 2:6\n2 0:1\n"
    A, _ = sw.data.load(written(tmp_path, given), zero_based=base)
    assert A[[0], :].nonzero()[1].tolist() == columns


WRONG = [
    ("1 1:x", "line 1, column 5: 'x' is not a number"),
    ("1 1:1\n\n# c\n2 1:1 3:nan", "line 4, column 9: 'nan' is not a finite number"),
    ("1 1:-Infinity", "'-Infinity' is not a finite number"), ("1 1:1e999", "'1e999' is beyond the range"),
    ("1 1:", "line 1, column 5: a number is missing"), ("1 1:1:1", "'1:1' is not a number"),
    ("1 1:1_0", "'1_0' is not a number"), ("1 1:0x10", "'0x10' is not a number"), ("1 1:1e", "'1e' is not a number"),
    ("1 3:1 3:2", "line 1, column 7: index '3:2' is repeated"), ("1 3:1 2:2", "index '2:2' follows a larger one"),
    ("1 2147483648:1", "exceeds 2147483647"), ("1 99999999999999999999999:1", "exceeds 2147483647"),
    ("1 -1:1", "'-1:1' is not index:value"), ("1 one:1", "'one:1' is not index:value"),
    ("1 2", "'2' is not index:value"),
    ("1 : 2", "':' is not index:value"), ("x 1:1", "the target must be a number: 'x'"),
    ("nan 1:1", "the target must be a number: 'nan' is not a finite"), ("1 1:1\n2:1", "line 2: the row has no target"),
    ("qid:1 1:1", "line 1: the row has no target"), ("1, 1:1", "line 1, column 3: the target must be a number"),
    ("1 qid:1 1:1\n1 1:1", "line 2: the row has no qid"), ("1 1:1\n1 qid:1 1:1", "line 1: the row has no qid"),
    ("1 qid:99999999999999999999 1:1", "query number"), ("1 qid: 1:1", "query number"),
    ("1 1:1\n1 2147483647:1 0:1", "follows a larger"), ("1 0:1\n1 2147483647:1", "index 2147483647 exceeds"),
    ("1 1:\u0661", "Numbers must be written in ASCII"), ("1 1:1\0", "NUL bytes"),
    ("1 1:1\r1 2:2", "'1' is not index:value"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "words"), WRONG, ids=[repr(content) for content, _ in WRONG])
def test_wrong_rows_are_refused_with_their_place(tmp_path, content, words):
    with pytest.raises(ValueError, match=words) as caught:
        sw.data.load(written(tmp_path, content + "\n"), format="svmlight")
    assert str(caught.value).startswith(str(tmp_path / "data.svm"))


def test_the_place_counts_lines_of_all_chunks(tmp_path, monkeypatch):
    monkeypatch.setattr(streams, "CHUNK", 1000)
    with pytest.raises(ValueError, match="line 100001, column 3: '5' is not"):
        sw.data.load(written(tmp_path, "1 1:1\n" * 100_000 + "1 5\n"), n_threads=2)


OTHERS = {
    "encoding": ("1 1:1\n".encode("utf-16"), {}, "UTF-16"), "empty": (b"", {}, "empty"),
    "no rows": (b"# nothing\n\n", {"format": "svmlight"}, "no rows"),
    "too few columns": (b"1 1:1 9:1\n", {"n_features": 5}, "n_features=5"),
    "zero": (b"1 0:1\n", {"zero_based": False}, "begin at 1"),
    "several": (b"1,2 1:1\n", {"multilabel": False}, "line 1: the row has several targets"),
    "comment": (b"1 1:1 # \xff\n", {"comments": True}, "UTF-8"),
    "target": (b"1 1:1\n", {"target": 3}, "leave out target"),
    "float32": (b"1 1:1e300\n", {"dtype": np.float32}, "float32"),
}  # fmt: skip


@pytest.mark.parametrize("name", OTHERS)
def test_other_mistakes_are_named(tmp_path, name):
    content, options, words = OTHERS[name]
    with pytest.raises(ValueError, match=words):
        sw.data.load(written(tmp_path, content), **options)


def test_a_mark_of_utf_8_is_skipped(tmp_path):
    assert sw.data.load(written(tmp_path, b"\xef\xbb\xbf1 1:1\n")).targets.tolist() == [1]


def test_folders_are_read_in_order_of_names(tmp_path):
    folder = tmp_path / "parts"
    folder.mkdir()
    for name, row in (("b", "2 0:1\n"), ("a", "1 5:1\n"), ("_SUCCESS", "")):
        (folder / f"{name}.svm" if row else folder / name).write_text(row)
    A, b = sw.data.load(folder)  # that indices begin at 0 is seen in the second file only
    assert b.tolist() == [1, 2] and A.shape == (2, 6) and A.nonzero()[1].tolist() == [5, 0]


def test_links_out_of_a_folder_are_refused(tmp_path):
    folder = tmp_path / "parts"
    folder.mkdir()
    (folder / "a.svm").symlink_to(written(tmp_path, "1 1:1\n"))
    with pytest.raises(ValueError, match=r"'a\.svm' is a link out of the folder"):
        sw.data.load(folder)


@pytest.mark.parametrize("change", ["cut", "longer"])
def test_a_file_that_changes_while_it_is_read_is_an_error(tmp_path, monkeypatch, change):
    monkeypatch.setattr(streams, "CHUNK", 1 << 16)
    path = written(tmp_path, "1 1:1\n" * 100_000)
    own, calls = streams.lines_end, []

    def meanwhile(buffer, size):
        if not calls:
            with path.open("r+b") as file:
                file.truncate(1 << 17) if change == "cut" else file.seek(0, io.SEEK_END) and file.write(b"1 1:1\n")
        calls.append(size)
        return own(buffer, size)

    with path.open("rb") as file, streams.Stream(path) as stream, pytest.raises(ValueError, match="changed while"):
        for _ in streams.chunks(stream, meanwhile):
            file.tell()


def test_reading_ahead_leaves_no_threads(tmp_path, monkeypatch):
    monkeypatch.setattr(streams, "CHUNK", 1 << 12)
    before = threading.active_count()
    with pytest.raises(ValueError, match="line 1"):
        sw.data.load(written(tmp_path, "1 x\n" + "1 1:1\n" * 10_000), n_threads=2, format="svmlight")
    for _ in range(200):  # the thread ends by itself soon after
        if threading.active_count() == before:
            break
        time.sleep(0.05)
    assert threading.active_count() == before


def test_readers_do_without_threads_that_cannot_be_started(tmp_path, monkeypatch):
    def none(*_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(streams, "CHUNK", 1 << 12)
    monkeypatch.setattr(threading.Thread, "start", none)
    A, b = sw.data.load(written(tmp_path, "".join(f"{k} 1:{k}\n" for k in range(1, 5000))), n_threads=2)
    assert b.tolist() == A.data.tolist() == list(range(1, 5000))


def test_readers_that_are_left_do_not_wait_for_their_threads(tmp_path, monkeypatch):
    monkeypatch.setattr(streams, "CHUNK", 1 << 12)
    with streams.Stream(written(tmp_path, "1 1:1\n" * 10_000)) as stream:
        left = streams.chunks(stream, ahead=True)
        next(left)
        waited = []
        own = streams.ThreadPoolExecutor.shutdown
        with monkeypatch.context() as patch:
            patch.setattr(
                streams.ThreadPoolExecutor, "shutdown", lambda pool, wait: waited.append(wait) or own(pool, wait)
            )
            left.close()
    assert waited == [False]


@pytest.mark.parametrize("word", ["0" * 3000, "1," * 2000, "1:" * 2000, " " * 5000, "1 " * 3000, "1.1" * 2000])
def test_the_format_is_told_in_little_time(tmp_path, word):
    assert formats.format_of(written(tmp_path, f"1 1:1 {word} 2:{word} x\n" * 20, "no name tells")) == "csv"


def test_a_line_without_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(streams, "CHUNK", 1 << 10)
    with (
        streams.Stream(written(tmp_path, b"1" * 10_000)) as stream,
        pytest.raises(ValueError, match="a line is longer"),
    ):
        list(streams.chunks(stream, longest=4096))


@settings(max_examples=60, deadline=None)
@given(content=st.binary(max_size=60) | st.text("0123456789:#, -+.e\nqid", max_size=60).map(str.encode))
def test_any_bytes_are_read_or_refused(tmp_path_factory, content):
    path = written(tmp_path_factory.mktemp("any"), content)
    try:
        data = sw.data.load(path, format="svmlight")
    except ValueError as error:
        assert str(path) in str(error)
    else:
        assert np.isfinite(data.A.data).all() and data.A.shape[0] >= 1
