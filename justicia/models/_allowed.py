"""What a model file may hold: exact pairs of module and name.

No wildcard and no dotted name: ``numpy.testing`` or ``pandas.eval`` would be doors. A pair is on the list when real
scikit-learn pipelines hold it and when calling it with any arguments runs none of the file's own code. That is why
``scipy.stats`` distributions (their state is executed on loading) and ``joblib.Memory`` are missing.
"""

from __future__ import annotations

__all__ = ["ALLOWED", "CALLABLE", "RENAMED", "STATEFUL"]

_BY_MODULE = {
    "builtins": "bool bytearray bytes complex float frozenset int object set slice str",
    "collections": "OrderedDict",
    "justicia.learners.cnf": "CNFClassifier",
    "justicia.learners.rules": "Condition Rule",
    "justicia.models.rule_files": "RuleClassifier",
    "numpy": (
        "bool bool_ dtype float16 float32 float64 floating int16 int32 int64 int8 integer ndarray number object_ str_ "
        "uint16 uint32 uint64 uint8 absolute arcsinh arctan cbrt exp expm1 log log10 log1p log2 negative reciprocal "
        "sinh sqrt square tanh"
    ),
    "numpy._core.multiarray": "_reconstruct scalar",
    "numpy._core.numeric": "_frombuffer",
    "numpy.ma": "MaskedArray",
    "numpy.ma.core": "MaskedArray _mareconstruct",
    "numpy.random._mt19937": "MT19937",
    "numpy.random._pcg64": "PCG64",
    "numpy.random._pickle": "__bit_generator_ctor __generator_ctor __randomstate_ctor",
    "numpy.random.bit_generator": "SeedSequence __pyx_unpickle_SeedSequence",
    "scipy._lib.array_api_compat.numpy._aliases": "asarray",
    "scipy.interpolate._bsplines": "BSpline _BSpline",
    "scipy.sparse._csc": "csc_array csc_matrix",
    "scipy.sparse._csr": "csr_array csr_matrix",
    "pandas": "BooleanDtype Categorical CategoricalDtype Float64Dtype Index Int64Dtype RangeIndex StringDtype",
    "pandas._libs.arrays": "__pyx_unpickle_NDArrayBacked",
    "pandas.arrays": "ArrowStringArray StringArray",
    "pandas.core.arrays.categorical": "Categorical",
    "pandas.core.arrays.string_": "StringArray StringDtype",
    "pandas.core.arrays.string_arrow": "ArrowStringArray",
    "pandas.core.dtypes.dtypes": "CategoricalDtype",
    "pandas.core.indexes.base": "Index _new_Index",
    "pandas.core.indexes.range": "RangeIndex",
    "sklearn._loss._loss": "CyHalfBinomialLoss CyHalfMultinomialLoss CyExponentialLoss",
    "sklearn._loss.link": "HalfLogitLink Interval LogitLink MultinomialLogit",
    "sklearn._loss.loss": "ExponentialLoss HalfBinomialLoss HalfMultinomialLoss",
    "sklearn.calibration": "CalibratedClassifierCV _CalibratedClassifier _SigmoidCalibration",
    "sklearn.compose._column_transformer": "ColumnTransformer _RemainderColsList make_column_selector",
    "sklearn.discriminant_analysis": "LinearDiscriminantAnalysis QuadraticDiscriminantAnalysis",
    "sklearn.dummy": "DummyClassifier",
    "sklearn.ensemble._bagging": "BaggingClassifier",
    "sklearn.ensemble._forest": "ExtraTreesClassifier RandomForestClassifier",
    "sklearn.ensemble._gb": "GradientBoostingClassifier",
    "sklearn.ensemble._hist_gradient_boosting.binning": "_BinMapper",
    "sklearn.ensemble._hist_gradient_boosting.gradient_boosting": "HistGradientBoostingClassifier",
    "sklearn.ensemble._hist_gradient_boosting.predictor": "TreePredictor",
    "sklearn.ensemble._stacking": "StackingClassifier",
    "sklearn.ensemble._voting": "VotingClassifier",
    "sklearn.ensemble._weight_boosting": "AdaBoostClassifier",
    "sklearn.feature_selection._mutual_info": "mutual_info_classif",
    "sklearn.feature_selection._univariate_selection": "SelectKBest SelectPercentile chi2 f_classif",
    "sklearn.feature_selection._variance_threshold": "VarianceThreshold",
    "sklearn.impute._base": "MissingIndicator SimpleImputer",
    "sklearn.impute._knn": "KNNImputer",
    "sklearn.isotonic": "IsotonicRegression",
    "sklearn.linear_model._logistic": "LogisticRegression LogisticRegressionCV",
    "sklearn.linear_model._perceptron": "Perceptron",
    "sklearn.linear_model._ridge": "RidgeClassifier RidgeClassifierCV",
    "sklearn.linear_model._sgd_fast": "Hinge Log ModifiedHuber SquaredHinge",
    "sklearn.linear_model._stochastic_gradient": "SGDClassifier",
    "sklearn.metrics._classification": (
        "accuracy_score balanced_accuracy_score f1_score fbeta_score jaccard_score log_loss matthews_corrcoef "
        "precision_score recall_score"
    ),
    "sklearn.metrics._ranking": "average_precision_score roc_auc_score",
    "sklearn.metrics._scorer": "_CurveScorer _MultimetricScorer _PassthroughScorer _Scorer",
    "sklearn.model_selection._classification_threshold": "FixedThresholdClassifier TunedThresholdClassifierCV",
    "sklearn.model_selection._search": "GridSearchCV RandomizedSearchCV",
    "sklearn.model_selection._search_successive_halving": "HalvingGridSearchCV HalvingRandomSearchCV",
    "sklearn.model_selection._split": (
        "_CVIterableWrapper GroupKFold KFold RepeatedKFold RepeatedStratifiedKFold ShuffleSplit StratifiedGroupKFold "
        "StratifiedKFold StratifiedShuffleSplit TimeSeriesSplit"
    ),
    "sklearn.naive_bayes": "BernoulliNB CategoricalNB ComplementNB GaussianNB MultinomialNB",
    "sklearn.neighbors._classification": "KNeighborsClassifier",
    "sklearn.neural_network._multilayer_perceptron": "MLPClassifier",
    "sklearn.pipeline": "FeatureUnion Pipeline",
    "sklearn.preprocessing._data": (
        "Binarizer MaxAbsScaler MinMaxScaler Normalizer PowerTransformer QuantileTransformer RobustScaler "
        "StandardScaler"
    ),
    "sklearn.preprocessing._discretization": "KBinsDiscretizer",
    "sklearn.preprocessing._encoders": "OneHotEncoder OrdinalEncoder",
    "sklearn.preprocessing._function_transformer": "FunctionTransformer",
    "sklearn.preprocessing._label": "LabelBinarizer LabelEncoder",
    "sklearn.preprocessing._polynomial": "PolynomialFeatures SplineTransformer",
    "sklearn.preprocessing._target_encoder": "TargetEncoder",
    "sklearn.svm._classes": "LinearSVC NuSVC SVC",
    "sklearn.tree._classes": "DecisionTreeClassifier DecisionTreeRegressor ExtraTreeClassifier ExtraTreeRegressor",
    "sklearn.tree._tree": "Tree",
    "sklearn.utils._bunch": "Bunch",
    "sklearn.utils._metadata_requests": "MetadataRequest MethodMetadataRequest",
}

ALLOWED = frozenset((module, name) for module, names in _BY_MODULE.items() for name in names.split())

CALLABLE = frozenset(
    (module, name)
    for module, names in {
        "builtins": "bytearray bytes complex frozenset set slice",
        "collections": "OrderedDict",
        "numpy": "dtype",
        "numpy._core.multiarray": "_reconstruct scalar",
        "numpy._core.numeric": "_frombuffer",
        "numpy.ma.core": "_mareconstruct",
        "numpy.random._pickle": "__bit_generator_ctor __generator_ctor __randomstate_ctor",
        "numpy.random.bit_generator": "__pyx_unpickle_SeedSequence",
        "pandas": "BooleanDtype CategoricalDtype Float64Dtype Int64Dtype StringDtype",
        "pandas._libs.arrays": "__pyx_unpickle_NDArrayBacked",
        "pandas.core.arrays.string_": "StringDtype",
        "pandas.core.dtypes.dtypes": "CategoricalDtype",
        "pandas.core.indexes.base": "_new_Index",
        "sklearn._loss._loss": "CyExponentialLoss CyHalfBinomialLoss CyHalfMultinomialLoss",
        "sklearn.linear_model._sgd_fast": "Hinge Log ModifiedHuber SquaredHinge",
        "sklearn.tree._tree": "Tree",
        "sklearn.utils._bunch": "Bunch",
    }.items()
    for name in names.split()
)
"""Pairs that a file may call with arguments; the others it may only hold, or make empty instances of."""

STATEFUL = ALLOWED | {
    ("numpy.random.mtrand", "RandomState"),
    ("numpy.random._generator", "Generator"),
    ("pandas.core.arrays.string_arrow", "ArrowStringArray"),
    ("pandas.core.arrays.string_", "StringArray"),
}
"""Classes of instances whose state a file may set."""

RENAMED = {
    "__builtin__": "builtins",
    "numpy.core.multiarray": "numpy._core.multiarray",
    "numpy.core.numeric": "numpy._core.numeric",
    "numpy._core._multiarray_umath": "numpy",
    "numpy.core._multiarray_umath": "numpy",
    "_loss": "sklearn._loss._loss",
}
"""Modules under the names that older versions and older protocols use."""
