"""``southwell fit``, ``predict``, ``certify`` and ``info``: models of data in files, from a shell."""

import io
import json
import subprocess
import sys

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file, load_breast_cancer, load_diabetes, load_iris

import southwell as sw
from southwell.cli import main
from southwell.data import Store

COMMAND = [sys.executable, "-m", "southwell"]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def told(capsys, *arguments, code=0):
    try:
        found = main([str(one) for one in arguments])
    except SystemExit as leaving:
        found = leaving.code
    out, err = capsys.readouterr()
    assert found == code, err
    return out, err


def svm(name="cancer.svm", rows=slice(None), load=load_breast_cancer):
    X, y = load(return_X_y=True)
    dump_svmlight_file(X[rows], y[rows], name)
    return X[rows], y[rows]


def test_a_session_from_file_to_predictions(here, capsys):
    X, y = svm("train.svm", slice(0, None, 2))
    Z, z = svm("test.svm", slice(1, None, 2))
    out, _ = told(capsys, "fit", "train.svm", "--quiet")
    assert "SparseLinearClassifierCV, logistic loss: 285 rows, 30 columns" in out
    assert "of the optimum" in out and "best mean of 5 folds" in out and "Written to train.southwell" in out
    model = sw.load("train.southwell")
    same = sw.SparseLinearClassifierCV(cv=5, l2s=0.0, standardize=True).fit(X, y)
    np.testing.assert_allclose(model.coef_, same.coef_, atol=1e-6)
    out, err = told(capsys, "predict", "train.southwell", "test.svm")
    np.testing.assert_array_equal(np.array(out.split(), float), model.predict(Z))
    assert float(err.split()[-1]) == pytest.approx(model.score(Z, z), rel=1e-5) and err.startswith("accuracy")
    out, _ = told(capsys, "predict", "train.southwell", "test.svm", "--proba", "--out", "p.txt")
    assert out == ""
    np.testing.assert_allclose(np.loadtxt("p.txt"), model.predict_proba(Z), rtol=1e-10)
    out, _ = told(capsys, "predict", "train.southwell", "test.svm", "--margins")
    np.testing.assert_allclose(np.array(out.split(), float), model.decision_function(Z), rtol=1e-10)
    out, _ = told(capsys, "certify", "train.southwell", "train.svm")
    assert "optimum is at least" in out
    out, _ = told(capsys, "certify", "train.southwell", "test.svm", "--json", code=3)  # another problem
    assert json.loads(out)
    out, _ = told(capsys, "info", "train.southwell")
    assert "kind           model" in out and "SparseLinearClassifierCV" in out


def test_tables_are_matched_by_the_names_of_columns(here, capsys):
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    frame = X.assign(city=np.where(np.arange(len(y)) % 3 == 0, "Rome", "Oslo"), target=y)
    frame.to_csv("train.csv", index=False)
    out, _ = told(capsys, "fit", "train.csv", "--json", "--quiet", "--out", "diabetes.southwell")
    report = json.loads(out)
    assert report["class"] == "SparseLinearRegressorCV" and report["loss"] == "squared"
    assert report["coefficients"][0]["feature"] in ("bmi", "s5") and report["gap"] <= 1e-6
    turned = frame[frame.columns[::-1]].drop(columns="target")
    turned.to_csv("turned.csv", index=False)
    turned[turned.city == "Rome"].drop(columns="s1").to_csv("rome.csv", index=False)
    known, err = told(capsys, "predict", "diabetes.southwell", "train.csv")
    assert err.startswith("score")
    out, err = told(capsys, "predict", "diabetes.southwell", "turned.csv")
    np.testing.assert_allclose(np.array(out.split(), float), np.array(known.split(), float))
    assert err == ""
    out, err = told(capsys, "predict", "diabetes.southwell", "rome.csv")
    assert len(out.split()) == (turned.city == "Rome").sum() and "count as zero" in err
    (here / "other.csv").write_text("a,b\n1,2\n3,4\n")
    _, err = told(capsys, "predict", "diabetes.southwell", "other.csv", code=2)
    assert "none of the model's columns" in err


def test_the_loss_follows_the_target(here, capsys):
    svm("iris.svm", load=load_iris)
    out, _ = told(capsys, "fit", "iris.svm", "--l1", "0.01", "--quiet", "--json")
    assert json.loads(out)["classes"] == ["0", "1", "2"]
    out, _ = told(capsys, "fit", "iris.svm", "--l1", "0.01", "--quiet", "--json", "--loss", "huber")
    assert json.loads(out)["class"] == "SparseLinearRegressor"
    _, err = told(capsys, "fit", "iris.svm", "--strength", "0.1", "--quiet", code=2)
    assert "give --l1" in err
    _, err = told(capsys, "fit", "iris.svm", "--loss", "softmax", code=2)
    assert "competing classes" in err
    _, err = told(capsys, "fit", "iris.svm", "--loss", "cubic", code=2)
    assert "cubic" in err


@pytest.mark.parametrize("memory", ["1 KB", "1 GB"])
def test_stores_are_fitted_whatever_their_size(here, capsys, memory):
    X, _ = svm()
    told(capsys, "convert", "cancer.svm", "store")
    told(capsys, "fit", "store", "--strength", "0.1", "--memory", memory, "--quiet")
    told(capsys, "fit", "cancer.svm", "--strength", "0.1", "--quiet")
    ours, usual = sw.load("store.southwell"), sw.load("cancer.southwell")
    np.testing.assert_allclose(ours.coef_, usual.coef_, atol=1e-4)
    told(capsys, "certify", "store.southwell", "store", "--memory", memory)
    out, err = told(capsys, "predict", "store.southwell", "store", "--memory", memory)
    assert err.startswith("accuracy")
    np.testing.assert_array_equal(np.array(out.split(), float), usual.predict(X))
    out, _ = told(capsys, "info", "store", "--json")
    assert json.loads(out)["entries"] == Store.open("store").entries
    if memory == "1 KB":
        _, err = told(capsys, "fit", "store", "--memory", memory, code=2)
        assert "needs all rows in memory" in err


def test_a_store_with_other_columns_is_matched_where_it_can_be_loaded(here, capsys):
    (here / "ab.csv").write_text("a,b,target\n" + "".join(f"{k},{k % 3},{2 * k}\n" for k in range(30)))
    (here / "ba.csv").write_text("b,a,target\n" + "".join(f"{k % 3},{k},{2 * k}\n" for k in range(30)))
    told(capsys, "fit", "ab.csv", "--l1", "0.01", "--quiet")
    told(capsys, "convert", "ba.csv", "store")
    known, _ = told(capsys, "predict", "ab.southwell", "ab.csv")
    out, _ = told(capsys, "predict", "ab.southwell", "store")
    np.testing.assert_allclose(np.array(out.split(), float), np.array(known.split(), float))
    _, err = told(capsys, "predict", "ab.southwell", "store", "--memory", "10", code=2)
    assert "other columns than the model" in err


def test_standard_input(here, capsys, monkeypatch):
    svm()
    content = (here / "cancer.svm").read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    told(capsys, "fit", "-", "--out", "a.southwell", "--l1", "0.01", "--quiet")
    told(capsys, "fit", "cancer.svm", "--l1", "0.01", "--quiet")
    np.testing.assert_array_equal(sw.load("a.southwell").coef_, sw.load("cancer.southwell").coef_)
    _, err = told(capsys, "fit", "-", code=2)
    assert "give --out" in err


def test_a_model_that_is_not_proven_leaves_with_3(here, capsys):
    svm()
    out, _ = told(capsys, "fit", "cancer.svm", "--l1", "0.001", "--tol", "1e-300", "--quiet", code=3)
    assert "was not reached" in out and sw.load("cancer.southwell")
    told(capsys, "certify", "cancer.southwell", "cancer.svm", "--tol", "1e-300", code=3)


def test_what_cannot_be_read_is_told_in_one_line(here, capsys):
    (here / "torn.svm").write_text("1 1:2 oops\n")
    (here / "plain.csv").write_text("a,b\n1,2\n3,4\n")
    for arguments, words in (
        (["fit", "nowhere.svm"], "nowhere"),
        (["fit", "torn.svm"], "torn.svm"),
        (["fit", "plain.csv"], "no targets"),
        (["fit", "torn.svm", "--l1", "1", "--strength", "0.5"], "not both"),
        (["fit", "torn.svm", "--strength", "2"], "between 0 and 1"),
        (["predict", "plain.csv", "plain.csv"], "southwell predict: "),
        (["certify", "nowhere", "plain.csv"], "nowhere"),
        (["info", "torn.svm"], "torn.svm"),
    ):
        out, err = told(capsys, *arguments, code=2)
        assert out == "" and words in err and len(err.splitlines()) == 1, err


def test_the_package_is_a_command(here):
    done = subprocess.run([*COMMAND, "--version"], capture_output=True, text=True, timeout=60)
    assert done.stdout == f"southwell {sw.__version__}\n"
