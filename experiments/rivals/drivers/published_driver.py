"""Asks the published Justicia (PyPI) about one model; runs under the Python that it is installed for.

    python published_driver.py QUESTION.json

The question names a table of numbers without a label, sensitive columns as it wants them (`race` for `race_0`, `race_1`,
…), the encoding and its options, and a model: nodes of a tree, or weights. Its imports come first and are not counted.
What it was written for and today's Python lacks is put in place: `fractions.gcd`, and empty modules for `cplex` and
`Orange`, which only learning rules needs.
"""

import fractions
import json
import math
import resource
import sys
import time
import types


def cpu():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + used.ru_utime + used.ru_stime


def fitted(question, columns):
    import numpy as np

    if "coefficients" in question:
        from sklearn.linear_model import LogisticRegression

        model = LogisticRegression()
        model.coef_ = np.array([question["coefficients"]])
        model.intercept_ = np.array([question["intercept"]])
    else:
        from sklearn.tree import DecisionTreeClassifier
        from sklearn.tree._tree import Tree

        model = DecisionTreeClassifier()
        held = Tree(len(columns), np.array([2], dtype=np.intp), 1)
        state = held.__getstate__()
        nodes = np.zeros(len(question["nodes"]), dtype=state["nodes"].dtype)
        for at, (left, right, feature, threshold) in enumerate(question["nodes"]):
            nodes[at]["left_child"], nodes[at]["right_child"] = left, right
            nodes[at]["feature"], nodes[at]["threshold"] = feature, threshold
            nodes[at]["n_node_samples"] = nodes[at]["weighted_n_node_samples"] = 1
        state["nodes"], state["node_count"], state["max_depth"] = nodes, len(nodes), question["depth"]
        state["values"] = np.array(question["values"], dtype=np.float64)[:, None, :]
        held.__setstate__(state)
        model.tree_, model.n_outputs_, model.max_features_ = held, 1, len(columns)
        model.n_classes_ = np.int64(2)
    model.classes_ = np.array([0, 1])
    model.n_features_in_ = len(columns)
    model.feature_names_in_ = np.array(columns, dtype=object)
    return model


def main():
    fractions.gcd = math.gcd
    for name in ("cplex", "Orange"):
        sys.modules[name] = types.ModuleType(name)
    import warnings

    warnings.filterwarnings("ignore")
    import pandas as pd
    from justicia.metrics import Metric

    transform = Metric._transform

    def transformed(self, table):
        # Names of columns that are numbers of numpy are taken for arrays by this pandas and that pgmpy.
        held = transform(self, table)
        held.columns = pd.Index([int(name) for name in held.columns], dtype=object)
        return held

    Metric._transform = transformed
    with open(sys.argv[1]) as file:
        question = json.load(file)
    table = pd.read_csv(question["table"])
    model = fitted(question, list(table.columns))
    agrees = [int(one) for one in model.predict(table)] == question["predictions"]
    start = cpu()
    metric = Metric(
        model, table, question["sensitive"], encoding=question["encoding"], verbose=False, **question["options"]
    )
    metric.compute()
    seconds = cpu() - start
    rates = [[[[str(a), str(b)] for a, b in group], rate] for group, rate, *_ in metric.sensitive_group_statistics]
    print(
        json.dumps(
            {
                "seconds": seconds, "agrees": agrees, "failed": bool(metric._execution_error),
                "disparate_impact": metric.disparate_impact_ratio,
                "statistical_parity_difference": metric.statistical_parity_difference,
                "rates": rates, "edges": None if metric._graph_edges is None else len(metric._graph_edges),
            }
        ),
        flush=True,
    )  # fmt: skip


if __name__ == "__main__":
    main()
