"""Models on disk: bit for bit what was saved, whole or not at all, and no file does harm."""

import io
import json
import os
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import KFold
from sklearn.preprocessing import scale

import southwell as sw
from estimator_data import quick, suitable
from southwell import estimators, methods, model_files, rules
from southwell.model_files import archive

KINDS = list(estimators.ALL.values())
STORED = Path(__file__).parent / "models"


def fitted(kind, dtype=np.float64, **parameters):
    model = quick(kind, **parameters)
    if hasattr(model, "decision_function"):
        X, y = load_breast_cancer(return_X_y=True, as_frame=False)
        X, y = scale(X), np.array(["no", "yes"], dtype=object)[y]
    else:
        X, y = load_diabetes(return_X_y=True)
        X, y = X * 10, suitable(kind, np.abs(y) / 100)
    X = X.astype(dtype)
    return model.fit(X, y), X


def same(a, b) -> bool:
    """Equal to the last bit, types included."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and (a.tobytes() == b.tobytes() or a.tolist() == b.tolist())
    if sp.issparse(a):
        return all(same(getattr(a, part), getattr(b, part)) for part in ("data", "indices", "indptr"))
    if isinstance(a, sw.Result):
        return same(vars(a), vars(b))
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    return a == b or a != a or vars(a).keys() == vars(b).keys()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kind", KINDS)
def test_a_model_is_loaded_bit_for_bit(kind, dtype, tmp_path):
    model, X = fitted(kind, dtype, keep_dual=True)
    model.save(tmp_path / "model")
    again = sw.load(str(tmp_path / "model"))
    assert type(again) is kind and same(vars(model), vars(again))
    assert same(model.predict(X), again.predict(X)) and same(model.dual_coef_, again.dual_coef_)
    again.set_params(**({"warm_start": True} if hasattr(again, "warm_start") else {}))
    again.coef_ *= 1.0  # arrays can be written to
    assert os.listdir(tmp_path) == ["model"]
    again.save(tmp_path / "again")
    assert (tmp_path / "again").stat().st_size > 0 and len(pickle.dumps(again)) > 0


def test_what_else_a_model_may_hold(tmp_path):
    pandas = pytest.importorskip("pandas")
    X, y = load_digits(return_X_y=True)
    some = np.flatnonzero((y > 2) & (y < 6))[:100]
    X, y = X[some], y[some]
    X = pandas.DataFrame(X / 16, columns=[f"pixel {k}" for k in range(64)])
    path = tmp_path / "model"
    model = sw.SparseLinearClassifier(
        sw.losses.SmoothHinge(0.5), l1=np.float32(1e-2), sparse_coef=True, class_weight={np.int64(3): 2.0, 4: 1.5},
        method=methods.CoordinateDescent(side="primal", rule=rules.Greedy()),
    ).fit(X, y)  # fmt: skip
    model.save(path)
    again = sw.load(path)
    assert same(vars(model), vars(again)) and again.method == model.method and again.loss == model.loss
    assert again.feature_names_in_.tolist() == list(X.columns) and np.array_equal(again.predict(X), model.predict(X))
    labels = sw.SparseLinearClassifier(l1=1e-2).fit(X, np.column_stack([y > 4, y % 2]).astype(int))
    labels.save(path)
    assert np.array_equal(sw.load(path).predict(X), labels.predict(X))
    several = sw.Ridge(alpha=np.array([1.0, 2.0])).fit(X, np.column_stack([y, -y]))
    several.save(path)
    assert same(vars(several), vars(sw.load(path)))


def test_a_failed_save_leaves_the_old_file(tmp_path, monkeypatch):
    model, _ = fitted(sw.Lasso)
    path = tmp_path / "model"
    model.save(path)
    before = path.read_bytes()
    with pytest.raises(TypeError, match=r"cv is KFold.* cannot hold"):
        fitted(sw.LassoCV, cv=KFold(3))[0].save(path)
    with pytest.raises(NotFittedError):
        sw.Lasso().save(path)

    def break_down(*_):
        raise OSError("the disk is full")

    monkeypatch.setattr(archive.os, "fsync", break_down)
    with pytest.raises(OSError, match="the disk is full"):
        model.save(path)
    assert path.read_bytes() == before and os.listdir(tmp_path) == ["model"]
    with pytest.raises(FileNotFoundError, match="no folder"):
        model.save(tmp_path / "nowhere" / "model")
    with pytest.raises(TypeError, match="Only estimators of southwell"):
        model_files.save(object(), path)


def test_a_file_has_the_rights_its_user_gives(tmp_path):
    model, _ = fitted(sw.Lasso)
    target, link = tmp_path / "model", tmp_path / "link"
    link.symlink_to(target)
    model.save(link)
    (tmp_path / "other").touch()
    assert link.is_symlink() and target.stat().st_mode == (tmp_path / "other").stat().st_mode
    os.chmod(target, 0o640)
    model.save(target)
    assert target.stat().st_mode & 0o777 == 0o640


# Files from elsewhere


@pytest.mark.parametrize("path", sorted(STORED.glob("*.southwell")), ids=lambda path: path.stem)
def test_files_of_earlier_versions_load(path):
    """Each was stored with what it predicted."""
    model = sw.load(path)
    expected = np.load(path.with_suffix(".npz"))
    X = expected["X"]
    assert np.allclose(model.predict(X) if not hasattr(model, "decision_function") else model.decision_function(X),
                       expected["margins"], rtol=1e-12)  # fmt: skip
    assert model.gap_ <= model.tol and repr(model.result_)
    if hasattr(model, "classes_"):
        assert model.classes_.tolist() == expected["classes"].tolist()


def test_there_are_files_of_earlier_versions():
    assert len(list(STORED.glob("*.southwell"))) >= 3


def rewritten(change, path) -> None:
    """The stored model with its text changed."""
    model, _ = fitted(sw.LogisticRegression, C=0.1, keep_dual=True)
    model.save(path)
    text, arrays = archive.read(path)
    change(text)
    archive.write(path, text, arrays)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda t: t.update(version=3, written_by="southwell 9.0"), "format 3, written by 'southwell 9.0'.* Upgrade"),
        (lambda t: t.update(version="1"), "of format '1'"),
        (lambda t: t.update(format="skops"), "not a model of southwell"),
        (lambda t: t.update({"class": "Popen"}), "no class 'Popen'"),
        (lambda t: t.update({"class": ["x"]}), "no class"),
        (lambda t: t.update(more=1), "it must hold attributes"),
        (lambda t: t.pop("parameters"), "it must hold attributes"),
        (lambda t: t["parameters"].update(volume=11), "has no parameter 'volume'"),
        (lambda t: t["parameters"].update(C={"eval": "1"}), "of no known kind"),
        (lambda t: t["parameters"].update(C={"_array": 0}), "of no known kind"),
        (lambda t: t["parameters"].update(C=[1]), "of no known kind"),
        (lambda t: t["parameters"].update(C={"part": "Popen", "of": {}}), "knows no 'Popen'"),
        (lambda t: t["parameters"].update(C={"part": "Huber", "of": {"delta": -1.0}}), "does not make a Huber"),
        (lambda t: t["parameters"].update(C={"part": "Huber", "of": {"size": 1.0}}), "does not make a Huber"),
        (lambda t: t["parameters"].update(C={"array": 99}), "no array 99"),
        (lambda t: t["parameters"].update(C={"array": -1}), "no array -1"),
        (lambda t: t["parameters"].update(C={"array": True}), "no array True"),
        (lambda t: t["parameters"].update(C={"status": "FINE"}), "no status 'FINE'"),
        (lambda t: t["parameters"].update(C={"sparse": [0, 0, 0], "shape": [9, 9], "matrix": False}), "inconsistent"),
        (lambda t: t["parameters"].update(C={"objects": [1], "shape": [2]}), "array of objects"),
        (lambda t: t["parameters"].update(C={"objects": [1], "shape": [2**70]}), "not a shape"),
        (lambda t: t["attributes"].update(predict=1), "'predict' is not an attribute of a fitted model"),
        (lambda t: t["attributes"].update(__class__=1), "'__class__' is not an attribute"),
        (lambda t: t["attributes"].update(dual_coef_=1), "'dual_coef_' is not an attribute"),
        (lambda t: t["attributes"].pop("coef_"), "coefficients are missing"),
        (lambda t: t["attributes"].update(coef_="x"), "coefficients are missing"),
        (lambda t: t["attributes"].update(n_features_in_=3), "not as many as its features"),
        (lambda t: t["attributes"].update(intercept_="x"), "intercepts are not"),
        (lambda t: t["attributes"].update(classes_={"list": []}), "classes are not"),
        (lambda t: t["attributes"].update(_results={"list": [1]}), "results are not results"),
        (lambda t: t["attributes"]["_results"]["list"][0]["of"].update(x="y"), "not vectors"),
        (lambda t: t["attributes"]["_results"]["list"][0]["of"].pop("x"), "does not make a Result"),
    ],
)
def test_what_is_not_understood_is_refused(change, words, tmp_path):
    path = tmp_path / "model"
    rewritten(change, path)
    with pytest.raises(ValueError, match=f"cannot be loaded: .*{words}"):
        sw.load(path)


def archived(path, members, kind=zipfile.ZIP_STORED) -> None:
    with zipfile.ZipFile(path, "w", kind) as file:
        for name, content in members:
            file.writestr(name, content)


def npy(array, **options) -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array(file, array, **options)
    return file.getvalue()


def test_hostile_archives_are_refused(tmp_path):
    path = tmp_path / "model"
    text = json.dumps({"format": "southwell model", "version": 1})
    pickled = npy(np.array([print], dtype=object), allow_pickle=True)
    huge = npy(np.zeros(1)).replace(b"(1,)", b"(9999999999999,)")
    for members, words, kind in (
        ([("model.json", text), ("0.npy", pickled)], "neither numbers nor strings", zipfile.ZIP_STORED),
        ([("model.json", text), ("0.npy", huge)], "(claims shape|cannot be read)", zipfile.ZIP_STORED),
        ([("model.json", text), ("0.npy", b"no array")], "cannot be read", zipfile.ZIP_STORED),
        ([("model.json", text * 9999)], "compressed", zipfile.ZIP_DEFLATED),
        ([("model.json", text), ("../../x", b"")], "arrays numbered from 0", zipfile.ZIP_STORED),
        ([("0.npy", npy(np.zeros(1)))], "arrays numbered from 0", zipfile.ZIP_STORED),
        ([("model.json", "[1")], "cannot be read", zipfile.ZIP_STORED),
        ([("model.json", "[" * 10**6)], "cannot be read", zipfile.ZIP_STORED),
        ([("model.json", "[1]")], "does not hold an object", zipfile.ZIP_STORED),
        ([("model.json", b"\xff\xfe\x00")], "cannot be read", zipfile.ZIP_STORED),
        ([], "arrays numbered from 0", zipfile.ZIP_STORED),
    ):
        archived(path, members, kind)
        with pytest.raises(ValueError, match=words):
            sw.load(path)
    rest = {"written_by": "", "class": "Lasso", "attributes": {}, "parameters": {"alpha": "here"}}
    nested = json.dumps({"format": "southwell model", "version": 1, **rest})
    archived(path, [("model.json", nested.replace('"here"', '{"list": [' * 900 + "1" + "]}" * 900))])
    with pytest.raises(ValueError, match=r"cannot be loaded: (its parts are inconsistent|its parts cannot be read)"):
        sw.load(path)
    for content in (b"", b"PK", pickle.dumps(sw.Lasso()), b"\x00" * 1000):
        path.write_bytes(content)
        with pytest.raises(ValueError, match="not a whole archive"):
            sw.load(path)
    with pytest.raises(FileNotFoundError):
        sw.load(tmp_path / "nothing")
    with pytest.raises(ValueError, match="it is a folder"):
        sw.load(tmp_path)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    model, X = fitted(sw.LogisticRegression, C=0.1, penalty="l1", sparse_coef=True)
    model.save(folder / "model")
    return (folder / "model").read_bytes(), model, X, folder / "damaged"


def test_every_truncation_is_refused(whole):
    content, *_, path = whole
    for length in [*range(0, len(content), 97), len(content) - 1]:
        path.write_bytes(content[:length])
        with pytest.raises(ValueError, match="cannot be loaded"):
            sw.load(path)


@settings(max_examples=300)
@given(st.data())
def test_damage_is_refused_or_harmless(whole, data):
    """Changed bytes: what is loaded at all can be used; nothing crashes, and no other error comes out."""
    content, _, X, path = whole
    damaged = bytearray(content)
    for _ in range(data.draw(st.integers(1, 4))):
        damaged[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(damaged)
    try:
        model = sw.load(path)
    except ValueError as error:
        assert "cannot be loaded" in str(error)
    else:
        assert model.predict(X).shape == (len(X),)


@settings(max_examples=150)
@given(st.data())
def test_changed_arrays_are_refused_or_harmless(whole, data):
    """The same with sums of bytes that are right, as an adversary would have them."""
    content, _, X, path = whole
    path.write_bytes(content)
    text, arrays = archive.read(path)
    for _ in range(data.draw(st.integers(1, 3))):
        k = data.draw(st.integers(0, len(arrays) - 1))
        changed = arrays[k].copy().reshape(-1)
        if changed.size and changed.dtype.kind in "iuf":
            value = data.draw(st.sampled_from([-1, 0, 1, 10**6, 2**31 - 1, -(2**31)]))
            changed[data.draw(st.integers(0, changed.size - 1))] = value
        arrays[k] = data.draw(st.sampled_from([changed, changed[:-1], changed.astype(str), arrays[k]]))
    archive.write(path, text, arrays)
    try:
        model = sw.load(path)
    except ValueError as error:
        assert "cannot be loaded" in str(error)
    else:
        model.predict(X)


# What a reviewer found


def test_what_was_saved_can_be_loaded(tmp_path):
    path = tmp_path / ("x" * 245)
    X, y = load_breast_cancer(return_X_y=True)
    labels = np.empty(len(y), dtype=object)
    labels[:] = [np.str_("a") if one else np.str_("b") for one in y]
    sw.LogisticRegression().fit(scale(X), labels).save(path)
    assert sw.load(path).classes_.tolist() == ["a", "b"]
    model = sw.SparseLinearRegressor(sw.losses.Huber, method=methods.CoordinateDescent).fit(scale(X), y)
    model.save(path)
    assert sw.load(path).method is methods.CoordinateDescent and sw.load(path).loss is sw.losses.Huber


def test_only_regular_files_are_replaced(tmp_path):
    model, _ = fitted(sw.Lasso)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(FileExistsError, match="not a regular file"):
        model.save(pipe)
    assert pipe.is_fifo()


@pytest.mark.parametrize(
    "header",
    ["{'descr': '<f8', 'shape': (5,", "{[]: 1}", "{'descr': 'f8,(', 'fortran_order': False, 'shape': (1,)}",
     "{'descr': '|01', 'fortran_order': False, 'shape': (1,)}", " {\n  'descr'", "{'descr': 1}"],
)  # fmt: skip
def test_broken_headers_are_refused(header, tmp_path):
    path = tmp_path / "model"
    content = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode()
    archived(path, [("model.json", "{}"), ("0.npy", content)])
    with pytest.raises(ValueError, match="cannot be loaded"):
        sw.load(path)


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t["parameters"].update(C={"part": "Huber", "of": {"delta": 10**400}}),
        lambda t: t["parameters"].update(C={"part": "Huber", "of": {"delta": {"type": "Huber"}}}),
        lambda t: t["attributes"].update(intercept_={"list": [{"list": [1.0]}, 2.0]}),
        lambda t: t["attributes"]["_results"]["list"][0]["of"].update(primal=None),
        lambda t: t["attributes"]["_results"]["list"][0]["of"].update(status=None),
        lambda t: t["attributes"]["_results"]["list"][0]["of"].update(epochs="3"),
        lambda t: t["attributes"].update(classes_={"type": "Popen"}),
    ],
)
def test_more_claims_that_cannot_be(change, tmp_path):
    rewritten(change, tmp_path / "model")
    with pytest.raises(ValueError, match="cannot be loaded"):
        sw.load(tmp_path / "model")
