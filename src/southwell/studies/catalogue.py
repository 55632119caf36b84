"""The data sets of the papers: under which names their files come, what stands in for them, how they are generated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from . import generators as g


@dataclass(frozen=True)
class DataSet:
    """A data set by the name that the paper gives it.

    Attributes
    ----------
    shape : (int, int)
        Rows, including those for tests, and columns.
    generator : Generator
        Makes data of this shape (``generators.py``).
    law : str
        What the generator imitates, in words.
    files, test_files : tuple of str
        Names of files without ending, in the order in which they are looked for; the name itself comes first.
    n_train : int, optional
        The first rows, if there is an official split.
    stand_in : str
        Other real data, if their file is at hand.
    weighed : {"", "tfidf", "unit"}
        How the rows of the set are weighed. It is done to raw counts and to stand-ins.
    positive : tuple
        The classes that ``binary=True`` makes +1. Default: the larger of two, or the class of median size.
    of : str, sizes
        It is a random part of another set, of so many rows and columns.
    ours : bool
        No paper uses it: it can only stand in.
    """

    shape: tuple[int, int]
    generator: g.Generator
    law: str
    files: tuple[str, ...] = ()
    test_files: tuple[str, ...] = ()
    n_train: int | None = None
    stand_in: str = ""
    weighed: str = ""
    positive: tuple[Any, ...] = ()
    of: str = ""
    sizes: tuple[int, int] | None = None
    ours: bool = False


TEXT = "Zipf word frequencies, log-normal row lengths with {} entries on average, tf-idf, unit rows"
_COMP = (1, 2, 3, 4, 5)  # comp.*

DATA: Mapping[str, DataSet] = {
    "rcv1": DataSet(
        (20_242 + 20_000, 47_236), g.text(74, 2), TEXT.format(74), ("rcv1_train.binary",), ("rcv1_test.binary",),
        20_242, "20news", "tfidf", positive=(1,),
    ),
    "rcv1*": DataSet((7_438, 809), g.text(2.4, 2), TEXT.format(2.4), of="rcv1", sizes=(10_000, 1_000), positive=(1,)),
    "rcv1-regions": DataSet(
        (199_328 + 23_149, 47_236), g.text(68.38, 225), TEXT.format(68.38), ("rcv1_regions",), n_train=199_328,
        stand_in="20news", weighed="tfidf",
    ),
    "news20.binary": DataSet(
        (19_996, 1_355_191), g.text(455, 2), TEXT.format(455), stand_in="farm_ads", weighed="unit", positive=(1,)
    ),
    "real-sim": DataSet(
        (72_309, 20_958), g.text(52, 2), TEXT.format(52), ("real_sim",), stand_in="20news", weighed="tfidf",
        positive=(1,),
    ),
    "sector": DataSet(
        (7_793 + 961, 55_197), g.text(162.94, 105), TEXT.format(163), ("sector.scale",), ("sector.t", "sector.t.scale"),
        7_793, "news20_multiclass", "tfidf",
    ),
    "covtype": DataSet(
        (581_012, 54), g.forest, "10 correlated numbers in [0, 1] and two groups of indicators, 12 entries a row",
        ("covtype.libsvm.binary.scale", "covtype.binary.scale", "covtype.libsvm.binary", "covtype.binary"),
        stand_in="a9a", positive=(2,),
    ),
    "aloi": DataSet(
        (108_000, 128), g.histograms(1_000), "non-negative rows that sum to one, 1,000 classes of equal size",
        ("aloi.scale",), stand_in="usps",
    ),
    "mnist": DataSet(
        (70_000, 784), g.gaussian(30, 10), "30 common factors and noise, 10 classes", ("mnist.scale",),
        ("mnist.t", "mnist.scale.t"), 60_000, "digits",
    ),
    "mushrooms": DataSet((8_124, 112), g.one_hot(21), "21 groups of indicators"),
    "ionosphere": DataSet((351, 34), g.gaussian(5), "5 common factors and noise", ("ionosphere_scale",),
                          stand_in="breast_cancer"),
    "leukemia": DataSet((72, 7_129), g.gaussian(10), "10 common factors and noise", ("leu",), ("leu.t",),
                        stand_in="colon"),
    "ijcnn1": DataSet((49_990 + 91_701, 22), g.gaussian(6), "6 common factors and noise", (), ("ijcnn1.t",), 49_990),
    # Not of the papers: they stand in, or serve for comparison.
    "20news": DataSet(
        (11_314 + 7_532, 130_107), g.text(155, 20), TEXT.format(155), ("20news_counts",), n_train=11_314,
        weighed="tfidf", positive=_COMP, ours=True,
    ),
    "news20_multiclass": DataSet((15_935, 62_061), g.text(80, 20, weighed=False), TEXT.format(80), ("news20",),
                                 ours=True),
    "farm_ads": DataSet((4_143, 54_877), g.text(197, 2), TEXT.format(197), ours=True),
    "a9a": DataSet((32_561 + 16_281, 123), g.one_hot(14), "14 groups of indicators", (), ("a9a.t",), 32_561, ours=True),
    "w8a": DataSet((49_749, 300), g.text(11.7, 2), TEXT.format(11.7), (), ("w8a.t",), ours=True),
    "usps": DataSet((9_298, 256), g.gaussian(20, 10), "20 common factors and noise, 10 classes", (), ("usps.t",), 7_291,
                    ours=True),
    "colon": DataSet((62, 2_000), g.gaussian(10), "10 common factors and noise", ("colon-cancer",), ours=True),
    "digits": DataSet((1_797, 64), g.gaussian(10, 10), "10 common factors and noise, 10 classes", ours=True),
    "breast_cancer": DataSet((569, 30), g.gaussian(5), "5 common factors and noise", ours=True),
}  # fmt: skip

SHIPPED = ("digits", "breast_cancer")  # with scikit-learn
