"""scikit-learn estimators: the same arguments, and a certificate for every fit.

A new one is a file here and its import below: every other list of estimators is made from these imports."""

from ._base import ConvergenceWarning as ConvergenceWarning
from ._paths import enet_path as enet_path
from ._paths import lasso_path as lasso_path
from .elastic_net import ElasticNet as ElasticNet
from .elastic_net import Lasso as Lasso
from .elastic_net_cv import ElasticNetCV as ElasticNetCV
from .elastic_net_cv import LassoCV as LassoCV
from .gamma import GammaRegressor as GammaRegressor
from .general import SparseLinearClassifier as SparseLinearClassifier
from .general import SparseLinearRegressor as SparseLinearRegressor
from .general_cv import SparseLinearClassifierCV as SparseLinearClassifierCV
from .group_lasso import GroupLasso as GroupLasso
from .group_lasso_cv import GroupLassoCV as GroupLassoCV
from .huber import HuberRegressor as HuberRegressor
from .logistic import LogisticRegression as LogisticRegression
from .logistic_cv import LogisticRegressionCV as LogisticRegressionCV
from .multi_task import MultiTaskElasticNet as MultiTaskElasticNet
from .multi_task import MultiTaskLasso as MultiTaskLasso
from .multi_task_cv import MultiTaskElasticNetCV as MultiTaskElasticNetCV
from .multi_task_cv import MultiTaskLassoCV as MultiTaskLassoCV
from .negative_binomial import NegativeBinomialRegressor as NegativeBinomialRegressor
from .poisson import PoissonRegressor as PoissonRegressor
from .quantile import QuantileRegressor as QuantileRegressor
from .ridge import Ridge as Ridge
from .svc import LinearSVC as LinearSVC
from .svr import LinearSVR as LinearSVR
from .tweedie import TweedieRegressor as TweedieRegressor

ALL = {name: kind for name, kind in vars().items() if isinstance(kind, type) and hasattr(kind, "fit")}
"""The estimators by name."""

FUNCTIONS = ("enet_path", "lasso_path")

__all__ = ["ConvergenceWarning", *FUNCTIONS, *ALL]
