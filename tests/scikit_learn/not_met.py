"""The tests of scikit-learn that are deliberately not met, and why."""

from __future__ import annotations

SOLVER = "about the iterations, warnings, refusals or random numbers of scikit-learn's solvers, which are not used"
INTERNAL = "calls or replaces a private part of scikit-learn"
TOLERANCE = "compares coefficients to more digits than the tolerance given there proves: ours bounds the objective"
WORDING = "asks for scikit-learn's words; ours says the same in its own"
DEPRECATED = "warns of what scikit-learn will change; ours does not change"
STRICTER = "ours refuses what scikit-learn warns of"
EXTENSION = "scikit-learn refuses it; ours has it"
UNCHANGED = "data are never changed, and always checked"
GRAM = "a Gram matrix that is given has no effect, so it is not checked against X"
DUAL = "the gap of scikit-learn's own dual point; ours has a better one"
DTYPE = "liblinear returns float64 for float32; ours returns float32, whatever the solver's name"
NO_WEIGHT = "a class of weight zero has no optimal intercept; ours refuses it"
TIES = "of strengths with the same score the strongest is chosen"
EASY = "alpha=0 is no difficulty here, so there is nothing to warn of"

REASONS: dict[str, dict[str, str]] = {
    "test_coordinate_descent": {
        "test_enet_nonfinite_params": SOLVER,
        "test_lasso_dual_gap": DUAL,
        "test_lasso_alpha_warning": EASY,
        "test_multi_task_lasso_and_enet": WORDING,
        "test_1d_multioutput_enet_and_multitask_enet_cv": TOLERANCE,
        "test_1d_multioutput_lasso_and_multitask_lasso_cv": TOLERANCE,
        "test_elasticnet_precompute_incorrect_gram": GRAM,
        "test_overridden_gram_matrix": GRAM,
        "test_warm_start_convergence": SOLVER,
        "test_warm_start_convergence_with_regularizer_decrement": SOLVER,
        "test_enet_path_positive": EXTENSION,
        "test_check_input_false": UNCHANGED,
        "test_enet_copy_X_False_check_input_False": UNCHANGED,
        "test_enet_coordinate_descent_raises_convergence": SOLVER,
        "test_lassoCV_does_not_set_precompute": INTERNAL,
        "test_enet_ridge_consistency": TOLERANCE,
        "test_enet_ols_consistency": TOLERANCE,
        "test_lassocv_alphas_validation": WORDING,
        "test_enet_l1_ratio": TOLERANCE,
        "test_uniform_targets": "asks for an intercept to the last bit; ours differs by one unit of rounding",
    },
    "test_sparse_coordinate_descent": {
        "test_path_parameters": TOLERANCE,
        "test_sparse_dense_equality": TOLERANCE,
        "test_sparse_enet_coordinate_descent": SOLVER,
    },
    "test_logistic": {
        "test_logistic_glmnet": TOLERANCE,
        "test_check_solver_option": SOLVER,
        "test_nan": WORDING,
        "test_consistency_path": INTERNAL,
        "test_liblinear_dual_random_state": SOLVER,
        "test_logistic_cv_multinomial_score": INTERNAL,
        "test_multinomial_logistic_regression_string_inputs": NO_WEIGHT,
        "test_logistic_regression_solvers_multiclass_unpenalized": TOLERANCE,
        "test_logistic_regressioncv_class_weights": TOLERANCE,
        "test_logreg_predict_proba_multinomial": INTERNAL,
        "test_max_iter": SOLVER,
        "test_zero_max_iter": "the model before the first round is the zero model with its best intercept",
        "test_warm_start": SOLVER,
        "test_warm_start_newton_solver": TOLERANCE,
        "test_dtype_match": DTYPE,
        "test_LogisticRegressionCV_on_folds": TOLERANCE,
        "test_l1_ratio_non_elasticnet": STRICTER,
        "test_lr_penalty_l1ratio_incompatible": STRICTER,
        "test_large_sparse_matrix": SOLVER,
        "test_liblinear_with_large_values": SOLVER,
        "test_newton_cholesky_fallback_to_lbfgs": SOLVER,
        "test_liblinear_multiclass_raises": SOLVER,
        "test_penalty_deprecated": DEPRECATED,
        "test_logisticregressioncv_warns_with_use_legacy_attributes": DEPRECATED,
        "test_l1_ratio_None_deprecated": DEPRECATED,
        "test_logisticregression_warns_with_n_jobs": DEPRECATED,
        "test_lr_scoring_warns": DEPRECATED,
        "test_get_default_scorer": INTERNAL,
        "test_logistic_regression_callback_support_warning": EXTENSION,
        "test_logistic_regression_callback_support[0]": "with max_iter=0 there is no round, only the zero model's",
    },
    "test_ridge": {
        "test_regularization_limits_ridge_gcv": DEPRECATED,
        "test_ridge_gcv_sample_weights": TOLERANCE,
        "test_ridge_loo_cv_asym_scoring": TIES,
        "test_ridgecv_sample_weight": STRICTER,
        "test_n_iter": SOLVER,
        "test_lbfgs_solver_error": SOLVER,
        "test_ridge_regression_custom_scoring": TIES,
        "test_ridge_positive_error_test": EXTENSION,
        "test_ridge_fit_intercept_sparse_error": SOLVER,
        "test_ridge_fit_intercept_sparse_sag": SOLVER,
        "test_ridgecv_alphas_validation": WORDING,
        "test_ridgecv_alphas_zero": WORDING,
        "test_ridge_classifier_cv_store_cv_results": "an indicator matrix of labels holds 0 and 1, not -1 and 1",
    },
    "test_quantile": {
        "test_asymmetric_error": TOLERANCE,
        "test_error_interior_point_future": SOLVER,
    },
    "test_huber": {
        "test_huber_warm_start": "the first certificate counts as an iteration",
    },
}


def reason(file: str, test: str, name: str) -> str | None:
    """Why a test is not met, if it is on the list, by its name or its name with parameters."""
    known = REASONS.get(file, {})
    return known.get(name, known.get(test))
