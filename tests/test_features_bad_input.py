"""Feature maps refuse parameters and data that they cannot use, in words."""

import numpy as np
import pytest
import scipy.sparse as sp

from feature_maps import MAPS, points
from southwell.features import RandomBinning, RandomFourier


@pytest.mark.parametrize("kind", MAPS)
@pytest.mark.parametrize(("change", "match"), [
    ({"size": 0}, r"n_\w+ must be an integer >= 1 .*got 0"),
    ({"size": -3}, r"n_\w+ must be an integer >= 1"),
    ({"size": 2.5}, r"n_\w+ must be an integer .*got 2\.5"),
    ({"size": True}, r"n_\w+ must be an integer"),
    ({"gamma": 0}, "gamma must be > 0 and finite; got 0"),
    ({"gamma": -1.0}, "gamma must be > 0"),
    ({"gamma": np.inf}, "gamma must be > 0 and finite"),
    ({"gamma": np.nan}, "gamma must be > 0"),
    ({"gamma": "scales"}, "Unknown gamma 'scales'. Did you mean 'scale'"),
    ({"random_state": -1}, "random_state must be an integer >= 0"),
    ({"random_state": "seed"}, "random_state must be None, an integer"),
    ({"X": [[np.nan, 1.0]]}, "NaN"),
    ({"X": [[np.inf, 1.0]]}, "infinity"),
    ({"X": sp.csr_array([[np.nan, 1.0]])}, "NaN"),
    ({"X": np.ones(3)}, "Expected 2D array"),
    ({"X": np.ones((0, 3))}, "0 sample"),
    ({"X": np.ones((3, 0))}, "0 feature"),
    ({"gamma": "scale", "X": [[1e-320, 0.0]]}, r"gamma='scale' gives inf: .* deviation 5e-321\. Rescale X"),
])  # fmt: skip
def test_bad_parameters_and_data_are_refused(kind, change, match):
    given = {"size": 5, "X": points()} | change
    size, X = given.pop("size"), given.pop("X")
    with pytest.raises(ValueError, match=match) as caught:
        kind(size, **given).fit(X)
    assert len(str(caught.value)) < 700


@pytest.mark.parametrize("kind", MAPS)
def test_other_types_and_shapes_are_refused(kind):
    with pytest.raises(TypeError, match="gamma must be a number; got None"):
        kind(gamma=None).fit(points())
    broken = sp.csr_array(points())
    broken.indices[3] = 99
    with pytest.raises(ValueError, match=r"index 99 is outside 0\.\.3"):
        kind().fit(broken)
    model = kind().fit(points())
    with pytest.raises(ValueError, match="expecting 4 features"):
        model.transform(points(d=3))
    with pytest.raises(ValueError, match="NaN"):
        model.transform(np.full((1, 4), np.nan))


@pytest.mark.parametrize("n_jobs", [0, 1.5, "all"])
def test_bad_numbers_of_threads_are_refused(n_jobs):
    with pytest.raises(ValueError, match="n_jobs must be"):
        RandomBinning(n_jobs=n_jobs).fit(points())


def test_frequencies_beyond_the_data_type_are_refused():
    single = points().astype(np.float32)
    with pytest.raises(ValueError, match=r"gamma=1e\+80 gives frequencies beyond .* float32.* Lower gamma, or pass"):
        RandomFourier(5, gamma=1e80).fit(single)
    assert np.isfinite(RandomFourier(5, gamma=1e80).fit(points()).frequencies_).all()
