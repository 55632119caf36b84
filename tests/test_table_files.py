"""Tables: CSV and its relatives, Parquet and Arrow, as matrices with named columns."""

import csv
import io

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import southwell as sw
from southwell.data import streams

TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=6).filter(
    lambda t: t == t.strip() and t not in ("NA", "N/A", "NaN", "nan", "NULL", "null", "None", "?")
)


def written(tmp_path, content, name="table.csv"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def refused(path, words, **options):
    with pytest.raises(ValueError, match=words) as caught:
        sw.data.load(path, **options)
    assert str(path) in str(caught.value)


@settings(max_examples=40, deadline=None)
@given(
    rows=st.lists(
        st.tuples(st.floats(allow_nan=False, allow_infinity=False), TEXTS), min_size=1, max_size=8
    ),
    delimiter=st.sampled_from(",;\t|"),
    chunk=st.sampled_from([16, 1 << 20]),
)  # fmt: skip
def test_what_csv_writes_is_read_back(tmp_path_factory, rows, delimiter, chunk):
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    writer.writerow(["number", "word"])
    writer.writerows((repr(number), word) for number, word in rows)
    path = written(tmp_path_factory.mktemp("csv"), text.getvalue())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streams, "CHUNK", chunk)
        data = sw.data.load(path, delimiter=delimiter, categorical=["word"], header=True, n_threads=1)
    words = sorted({word for _, word in rows})
    assert data.feature_names == ["number", *(f"word_{word}" for word in words)]
    expected = [[number, *(float(word == one) for one in words)] for number, word in rows]
    np.testing.assert_array_equal(data.A.toarray(), expected)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("quoted", [False, True])
def test_numbers_are_those_of_pandas(tmp_path, monkeypatch, threads, quoted):
    monkeypatch.setattr(streams, "CHUNK", 1 << 18)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        rng.normal(size=(20_000, 4)) * 10.0 ** rng.integers(-300, 300, (20_000, 4)), columns=list("abcd")
    )
    path = tmp_path / "large.csv"
    frame.to_csv(path, index=False, quoting=csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL)
    data = sw.data.load(path, target="d", weight=None, n_threads=threads)
    np.testing.assert_array_equal(data.A, frame[["a", "b", "c"]].to_numpy())
    np.testing.assert_array_equal(data.y, frame["d"].to_numpy())
    assert data.feature_names == ["a", "b", "c"] and data.A.flags.c_contiguous


CITIES = 'size,city,kind,label\n1,Paris,x,yes\n2.5,"New\nYork, ""NY""",y,no\n\n3,Paris,y,yes\n'


def test_texts_become_columns_with_names(tmp_path):
    data = sw.data.load(written(tmp_path, CITIES))
    assert data.feature_names == ["size", 'city_New\nYork, "NY"', "city_Paris", "kind_x", "kind_y"]
    assert data.A.toarray().tolist() == [[1, 0, 1, 1, 0], [2.5, 1, 0, 0, 1], [3, 0, 1, 0, 1]]
    assert data.y.tolist() == ["yes", "no", "yes"]
    assert sw.solve(data.A, data.y, loss="logistic", l2=0.1).gap < 1e-5


@pytest.mark.parametrize(("rows", "chunk"), [(100, 16), (100, 50), (60_000, 1 << 21)])
def test_newlines_between_quotes_end_no_record(tmp_path, monkeypatch, rows, chunk):
    monkeypatch.setattr(streams, "CHUNK", chunk)
    path = written(tmp_path, "a,b\n" + '1,"x\ny\n"\n2,""\n' * rows)  # at the end several pieces
    data = sw.data.load(path, n_threads=2, missing="zero")
    assert data.feature_names == ["a", "b_x\ny\n"] and data.shape == (2 * rows, 2)
    np.testing.assert_array_equal(data.A.toarray(), np.tile([[1, 1], [2, 0]], (rows, 1)))


def test_texts_can_be_hashed(tmp_path):
    data = sw.data.load(written(tmp_path, CITIES), text="hash", n_hashed=64)
    assert data.shape == (3, 65) and data.feature_names[:2] == ["size", "hashed_0"]
    hashed = data.A.toarray()[:, 1:]
    assert hashed.sum(axis=1).tolist() == [2, 2, 2] and 2 <= (hashed.sum(axis=0) > 0).sum() <= 4


def test_missing_values_are_refused_with_their_place(tmp_path):
    path = written(tmp_path, "a,b,c\n1,2,x\n3,,y\n")
    refused(path, "column 'b', row 2: a value is missing")
    refused(written(tmp_path, "a,b,c\n1,2,x\n3,4,NA\n", "text.csv"), "column 'c', row 2: a value is missing")
    refused(path, "column 'b', row 2: the target is missing", target="b", missing="mean")
    refused(path, "column 'b', row 2: the weight is missing", weight="b", missing="mean")


@pytest.mark.parametrize(
    ("missing", "numbers", "texts"),
    [("mean", [1, 2, 3], [[1, 0], [1, 0], [0, 1], [1, 0]]), ("zero", [1, 0, 3], [[1, 0], [1, 0], [0, 1], [0, 0]])],
)
def test_missing_values_are_imputed_when_asked(tmp_path, missing, numbers, texts):
    data = sw.data.load(written(tmp_path, "a;b\n1;u\n;u\n3;v\nnull;NA\n"), missing=missing)
    A = data.A.toarray()
    assert A[:3, 0].tolist() == numbers and A[:, 1:].tolist() == texts


@pytest.mark.parametrize(
    ("content", "header", "names"),
    [
        ("a,b\n1,2\n", "auto", ["a", "b"]), ("1,2\n3,4\n", "auto", ["column 0", "column 1"]),
        ("2010,2011\n3,4\n", True, ["2010", "2011"]), (" a , b \n1,2\n", "auto", ["a", "b"]),
        ('"a","b, c"\n1,2\n', "auto", ["a", "b, c"]), ("\n\na,b\n1,2\n", "auto", ["a", "b"]),
        ("\ufeffa,b\n1,2\n", "auto", ["a", "b"]),
    ],
)  # fmt: skip
def test_names_are_in_the_first_row_if_it_holds_no_numbers(tmp_path, content, header, names):
    data = sw.data.load(written(tmp_path, content), header=header)
    assert data.feature_names == names and data.targets is None


@pytest.mark.parametrize(
    ("target", "features"),
    [
        ("c", ["a", "b"]),
        (2, ["a", "b"]),
        (-1, ["a", "b"]),
        (0, ["b", "c"]),
        (None, ["a", "b", "c"]),
        (False, ["a", "b", "c"]),
    ],
)
def test_the_target_is_a_name_or_a_position(tmp_path, target, features):
    data = sw.data.load(written(tmp_path, "a,b,c\n1,2,3\n4,5,6\n"), target=target)
    assert data.feature_names == list(features)
    assert (data.targets is None) == (len(features) == 3)


def test_a_column_named_target_is_the_target(tmp_path):
    path = written(tmp_path, "a,Label\n1,2\n")
    assert sw.data.load(path).targets.tolist() == [2] and sw.data.load(path, target=False).shape == (1, 2)


def test_kinds_may_change_in_later_chunks(tmp_path, monkeypatch):
    monkeypatch.setattr(streams, "CHUNK", 1 << 12)
    rows = [f"{k},{k % 7}" for k in range(3000)] + ["x,1"] * 10
    path = written(tmp_path, "a,b\n" + "\n".join(rows) + "\n")
    refused(path, "column 'a' holds numbers, but also 'x' on line 3002")
    data = sw.data.load(path, categorical=["a"], max_categories=5000)
    assert data.shape == (3010, 3002) and data.A[:, [3001]].sum() == 10


WRONG = {
    "few fields": ("a,b\n1,2\n3\n", {}, "line 3, column 1: the row does not have 2 fields|does not have 2 fields"),
    "many fields": ("a,b\n1,2\n3,4,5\n", {}, "line 3, column 5: the row does not have 2 fields"),
    "open quote": ('a,b\n1,"2\n3,4\n', {}, "quotation mark is not closed"),
    "quote within": ('a,b\n1,2"3\n', {}, "quotation mark"), "after a quote": ('a,b\n1,"2"x\n', {}, "quotation mark"),
    "infinite": ("a,b\n1,inf\n", {}, "line 2, column 'b': 'inf' is not a finite number"),
    "beyond": ("a,b\n1,1e400\n", {}, "beyond the range"),
    "mixed": ("a,b\n1,2\n1,x\n", {}, "holds numbers, but also 'x'"),
    "same names": ("a,a\n1,2\n", {}, "holds numbers, but also 'a' on line 1"),
    "same names, said": ("a,a\n1,2\n", {"header": True}, "two columns have the name 'a'"),
    "only names": ("a,b\n", {}, "no rows"),
    "empty": ("\n\n", {}, "no rows"), "encoding": ("a,b\n1,caf\xe9\n".encode("latin-1"), {}, "not UTF-8"),
    "UTF-16": ("a,b\n1,2\n".encode("utf-16"), {}, "UTF-16"),
    "no column": ("a,b\n1,2\n", {"target": "c"}, "Known: a, b"),
    "position": ("a,b\n1,2\n", {"target": 2}, "between -2 and 1"),
    "two targets": ("y,label\n1,2\n", {}, "Several columns could be the target"),
    "insisted": ("a,b\n1,2\n", {"target": True}, "No column is named"),
    "weight": ("a,b\n1,-2\n", {"weight": "b"}, "row 1: the weight is -2"),
    "weights of text": ("a,b\n1,x\n", {"weight": "b"}, "weights must be numbers"),
    "categories": ("a,b\n1,x\n2,y\n3,z\n", {"max_categories": 2}, "more than 2 different texts"),
    "nothing to impute": ("a,b\n1,\n2,\n", {"missing": "mean"}, "no values to impute from"),
    "JSON": ('{"a": 1}', {}, "JSON"), "pickle": (b"\x80\x04\x95", {}, "pickles are never read"),
    "bytes": (bytes(range(256)), {}, "no format that is read|NUL"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_wrong_tables_are_refused_in_words(tmp_path, name):
    content, options, words = WRONG[name]
    with pytest.raises(ValueError, match=words):
        sw.data.load(written(tmp_path, content), **options)


@pytest.mark.parametrize(
    "option", [{"text": "x"}, {"missing": 0}, {"delimiter": "ab"}, {"header": "no"}, {"dtype": int},
               {"format": "excel"},
               {"n_threads": 0}, {"categorical": "a"}, {"n_features": -1}, {"zero_based": 1}, {"comments": "no"}],
    ids=str,
)  # fmt: skip
def test_wrong_options_are_refused(tmp_path, option):
    with pytest.raises((ValueError, TypeError), match=next(iter(option))):
        sw.data.load(written(tmp_path, "a,b\n1,2\n"), **option)


def test_folders_must_hold_the_same_columns(tmp_path):
    folder = tmp_path / "parts"
    folder.mkdir()
    written(folder, "a,b\n1,x\n", "1.csv")
    written(folder, "a,b\n2,z\n", "2.csv")
    assert sw.data.load(folder).A.toarray().tolist() == [[1, 1, 0], [2, 0, 1]]
    written(folder, "a,c\n2,1\n", "3.csv")
    refused(folder, "as in the first file")


# Parquet, Arrow, Feather.


@pytest.fixture
def frame():
    return pd.DataFrame(
        {"a": [1.5, -2, 3], "n": [1, 2, 3], "flag": [True, False, True], "c": ["x", "y", "x"], "target": [0, 1, 1]}
    )


@pytest.mark.parametrize("form", ["parquet", "feather", "stream", "categories"])
def test_tables_of_arrow_are_read(tmp_path, frame, form):
    arrow = pytest.importorskip("pyarrow")
    path = tmp_path / "table"
    if form == "categories":
        frame["c"] = frame["c"].astype("category")
    if form == "parquet":
        frame.to_parquet(path, compression="zstd", row_group_size=2)
    elif form == "stream":
        table = arrow.Table.from_pandas(frame)
        with arrow.ipc.new_stream(str(path), table.schema) as writer:
            writer.write_table(table)
    else:
        frame.to_feather(path)
    data = sw.data.load(path)
    assert data.feature_names == ["a", "n", "flag", "c_x", "c_y"]
    assert data.A.toarray().tolist() == [[1.5, 1, 1, 1, 0], [-2, 2, 0, 0, 1], [3, 3, 1, 1, 0]]
    assert data.y.tolist() == [0, 1, 1]


def test_missing_values_of_arrow_are_refused_with_their_place(tmp_path, frame):
    pytest.importorskip("pyarrow")
    frame.loc[1, "c"] = None
    frame.to_parquet(tmp_path / "p")
    refused(tmp_path / "p", "column 'c', row 2")
    assert sw.data.load(tmp_path / "p", missing="mean").A.toarray()[1].tolist() == [-2, 2, 0, 1]


@pytest.mark.parametrize(
    ("column", "words"),
    [(pd.date_range("2020", periods=3), "timestamp"), ([[1], [2], [3]], "list"), ([1.0, np.inf, 2], "infinite")],
)
def test_other_types_are_refused_by_name(tmp_path, frame, column, words):
    pytest.importorskip("pyarrow")
    frame.assign(a=column).to_parquet(tmp_path / "p")
    refused(tmp_path / "p", f"column 'a' holds .*{words}")


def test_damaged_parquet_is_refused(tmp_path, frame):
    pytest.importorskip("pyarrow")
    frame.to_parquet(tmp_path / "p")
    content = (tmp_path / "p").read_bytes()
    for cut in (6, len(content) // 2, len(content) - 2):
        refused(written(tmp_path, content[:cut], "cut"), "pyarrow cannot read it")


def test_without_pyarrow_it_is_said_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"pip install 'southwell\[arrow\]'"):
        sw.data.load(written(tmp_path, b"PAR1" + bytes(100)))


def test_one_hot_data_are_sparse_with_short_indices(tmp_path):
    A = sw.data.load(written(tmp_path, CITIES)).A
    assert sp.issparse(A) and A.indices.dtype == A.indptr.dtype == np.int32
