"""scikit-learn estimators: the same arguments, and a certificate for every fit.

A new one is a file here and its import below: every other list of estimators is made from these imports."""

from ._base import ConvergenceWarning as ConvergenceWarning
from ._paths import enet_path as enet_path
from ._paths import lasso_path as lasso_path
from .adaptive import AdaptiveLasso as AdaptiveLasso
from .adaptive import AdaptiveLassoCV as AdaptiveLassoCV
from .concave import ConcaveClassifier as ConcaveClassifier
from .concave import ConcaveRegressor as ConcaveRegressor
from .concave_cv import ConcaveClassifierCV as ConcaveClassifierCV
from .concave_cv import ConcaveRegressorCV as ConcaveRegressorCV
from .elastic_net import ElasticNet as ElasticNet
from .elastic_net import Lasso as Lasso
from .elastic_net_cv import ElasticNetCV as ElasticNetCV
from .elastic_net_cv import LassoCV as LassoCV
from .gamma import GammaRegressor as GammaRegressor
from .general import SparseLinearClassifier as SparseLinearClassifier
from .general import SparseLinearRegressor as SparseLinearRegressor
from .general_cv import SparseLinearClassifierCV as SparseLinearClassifierCV
from .general_cv import SparseLinearRegressorCV as SparseLinearRegressorCV
from .general_ic import SparseLinearClassifierIC as SparseLinearClassifierIC
from .general_ic import SparseLinearRegressorIC as SparseLinearRegressorIC
from .group_classifier import GroupLassoClassifier as GroupLassoClassifier
from .group_classifier import GroupLassoClassifierCV as GroupLassoClassifierCV
from .group_lasso import GroupLasso as GroupLasso
from .group_lasso_cv import GroupLassoCV as GroupLassoCV
from .huber import HuberRegressor as HuberRegressor
from .linear import LinearRegression as LinearRegression
from .logistic import LogisticRegression as LogisticRegression
from .logistic_cv import LogisticRegressionCV as LogisticRegressionCV
from .multi_task import MultiTaskElasticNet as MultiTaskElasticNet
from .multi_task import MultiTaskLasso as MultiTaskLasso
from .multi_task_cv import MultiTaskElasticNetCV as MultiTaskElasticNetCV
from .multi_task_cv import MultiTaskLassoCV as MultiTaskLassoCV
from .negative_binomial import NegativeBinomialRegressor as NegativeBinomialRegressor
from .poisson import PoissonRegressor as PoissonRegressor
from .quantile import QuantileRegressor as QuantileRegressor
from .relaxed import RelaxedLasso as RelaxedLasso
from .relaxed import RelaxedLassoClassifier as RelaxedLassoClassifier
from .relaxed import RelaxedLassoClassifierCV as RelaxedLassoClassifierCV
from .relaxed import RelaxedLassoCV as RelaxedLassoCV
from .ridge import Ridge as Ridge
from .ridge import RidgeClassifier as RidgeClassifier
from .ridge_cv import RidgeClassifierCV as RidgeClassifierCV
from .ridge_cv import RidgeCV as RidgeCV
from .svc import LinearSVC as LinearSVC
from .svr import LinearSVR as LinearSVR
from .tweedie import TweedieRegressor as TweedieRegressor

ALL = {name: kind for name, kind in vars().items() if isinstance(kind, type) and hasattr(kind, "fit")}
"""The estimators by name."""

FUNCTIONS = ("enet_path", "lasso_path")

__all__ = ["ConvergenceWarning", *FUNCTIONS, *ALL]
