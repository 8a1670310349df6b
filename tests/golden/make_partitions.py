"""Partitioned variables of linear models, trained by real TensorFlow 1.15 with every optimizer on batches
that do not contain all rows:
python3.7 tests/golden/make_partitions.py > tests/testthat/golden/partitions.json"""
import json
import os
import random
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

tf.logging.set_verbosity(tf.logging.ERROR)
SEED, STEPS, BATCH = 20260104, 6, 4
RANDOM = random.Random(SEED)
OPTIMIZERS = [
    ("GradientDescentOptimizer", {"learning_rate": 0.2}),
    ("MomentumOptimizer", {"learning_rate": 0.1, "momentum": 0.9}),
    ("MomentumOptimizer", {"learning_rate": 0.1, "momentum": 0.9, "use_nesterov": True}),
    ("AdagradOptimizer", {"learning_rate": 0.2}),
    ("AdagradDAOptimizer", {"learning_rate": 0.2, "l1_regularization_strength": 0.01}),
    ("AdamOptimizer", {"learning_rate": 0.1}),
    ("RMSPropOptimizer", {"learning_rate": 0.05, "momentum": 0.5}),
    ("RMSPropOptimizer", {"learning_rate": 0.05, "momentum": 0.5, "centered": True}),
    ("AdadeltaOptimizer", {"learning_rate": 5.0}),
    ("ProximalAdagradOptimizer", {"learning_rate": 0.2, "l1_regularization_strength": 0.02}),
    ("ProximalGradientDescentOptimizer",
     {"learning_rate": 0.2, "l1_regularization_strength": 0.02, "l2_regularization_strength": 0.1}),
    ("FtrlOptimizer", {"learning_rate": "decayed", "l1_regularization_strength": 0.05}),
    ("FtrlOptimizer", {"learning_rate": 0.2, "l2_regularization_strength": 0.1,
                       "l2_shrinkage_regularization_strength": 0.05}),
]


def optimizer(name, args):
    def make():
        given = dict(args)
        step = tf.train.get_or_create_global_step()
        if given["learning_rate"] == "decayed":
            given["learning_rate"] = tf.train.exponential_decay(0.3, step, 1, 0.7)
        if name == "AdagradDAOptimizer":
            given["global_step"] = step
        return getattr(tf.train, name)(**given)
    return make


def random_case(name, args):
    words = ["w%d" % i for i in range(RANDOM.randint(5, 9))]
    width = RANDOM.choice([1, 2])
    rows = [[RANDOM.choice(words + [""]) for _ in range(width)] for _ in range(STEPS * BATCH)]
    return {
        "optimizer": name, "args": args, "words": words, "parts": RANDOM.randint(2, 4), "rows": rows,
        "y": [round(RANDOM.uniform(-2, 2), 3) for _ in rows],
        "sparse_combiner": RANDOM.choice(["sum", "mean", "sqrtn"]),
        "embedding": RANDOM.choice([None, {
            "dimension": RANDOM.choice([1, 2]), "combiner": RANDOM.choice(["sum", "mean", "sqrtn"]),
            "max_norm": RANDOM.choice([None, 0.5])}]),
    }


def run(case):
    words = tf.feature_column.categorical_column_with_vocabulary_list("c", case["words"])
    columns = [words]
    if case["embedding"]:
        columns.append(tf.feature_column.embedding_column(
            tf.feature_column.categorical_column_with_vocabulary_list("e", case["words"]),
            initializer=tf.constant_initializer(0.4), **case["embedding"]))
    model = tf.estimator.LinearRegressor(
        columns, model_dir=tempfile.mkdtemp(), optimizer=optimizer(case["optimizer"], case["args"]),
        partitioner=tf.fixed_size_partitioner(case["parts"]),
        sparse_combiner=case["sparse_combiner"])
    rows = np.array(case["rows"], dtype=object)

    def data():
        features = {"c": rows, "e": rows} if case["embedding"] else {"c": rows}
        y = np.array(case["y"], np.float32)
        return tf.data.Dataset.from_tensor_slices((features, y)).batch(BATCH)
    model.train(data, steps=STEPS)
    names = [n for n in model.get_variable_names() if n.endswith("weights")]
    return {n: np.asarray(model.get_variable_value(n), np.float64).tolist() for n in sorted(names)}


CASES = [random_case(name, args) for name, args in OPTIMIZERS for _ in range(3)]
for CASE in CASES:
    CASE["variables"] = run(CASE)
# Diverging cases amplify rounding errors, so they do not test the rules.
CASES = [case for case in CASES
         if all(np.abs(value).max() <= 10 for value in case["variables"].values())]
print(json.dumps({"tensorflow": tf.__version__, "seed": SEED, "batch": BATCH, "steps": STEPS,
                  "cases": CASES}))
