"""scikit-learn estimators: the same arguments, and a certificate for every fit."""

from ._base import ConvergenceWarning
from .elastic_net import ElasticNet, Lasso
from .elastic_net_cv import ElasticNetCV, LassoCV
from .general import SparseLinearClassifier, SparseLinearRegressor
from .general_cv import SparseLinearClassifierCV
from .group_lasso import GroupLasso
from .group_lasso_cv import GroupLassoCV
from .huber import HuberRegressor
from .logistic import LogisticRegression
from .logistic_cv import LogisticRegressionCV
from .multi_task import MultiTaskElasticNet, MultiTaskLasso
from .multi_task_cv import MultiTaskElasticNetCV, MultiTaskLassoCV
from .poisson import PoissonRegressor
from .quantile import QuantileRegressor
from .ridge import Ridge
from .svc import LinearSVC
from .svr import LinearSVR

__all__ = [
    "ConvergenceWarning",
    "ElasticNet",
    "ElasticNetCV",
    "GroupLasso",
    "GroupLassoCV",
    "HuberRegressor",
    "Lasso",
    "LassoCV",
    "LinearSVC",
    "LinearSVR",
    "LogisticRegression",
    "LogisticRegressionCV",
    "MultiTaskElasticNet",
    "MultiTaskElasticNetCV",
    "MultiTaskLasso",
    "MultiTaskLassoCV",
    "PoissonRegressor",
    "QuantileRegressor",
    "Ridge",
    "SparseLinearClassifier",
    "SparseLinearClassifierCV",
    "SparseLinearRegressor",
]
