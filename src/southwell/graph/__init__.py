"""Learning on graphs, with a proof.

>>> import numpy as np
>>> from southwell.graph import LabelPropagation
>>> path = np.diag([1.0, 1.0, 1.0], k=1)
>>> model = LabelPropagation(affinity="precomputed").fit(path + path.T, ["left", -1, -1, "right"])
>>> model.transduction_.tolist()
['left', 'left', 'right', 'right']
"""

from ._label_propagation import LabelPropagation

__all__ = ["LabelPropagation"]
