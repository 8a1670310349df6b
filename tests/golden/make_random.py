"""Random numbers, initial values and layers of real TensorFlow 1.15 for given seeds:
python3.7 tests/golden/make_random.py > tests/testthat/golden/random.json"""
import json
import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf  # noqa: E402

tf.logging.set_verbosity(tf.logging.ERROR)
I = tf.initializers


def numbers(values):
    whole = values.dtype.kind != "f"
    return [int(x) if whole else float(x) for x in values.ravel()]


def draws(graph_seed, op_seed, build):
    with tf.Graph().as_default(), tf.Session() as session:
        if graph_seed is not None:
            tf.set_random_seed(graph_seed)
        tensor = build(op_seed)
        return [numbers(session.run(tensor)) for _ in range(3)]


KINDS = {
    "uniform": lambda s: tf.random_uniform([7], seed=s),
    "normal": lambda s: tf.random_normal([7], mean=1.0, stddev=2.0, seed=s),
    "truncated": lambda s: tf.truncated_normal([11], seed=s),
    "uniform64": lambda s: tf.random_uniform([5], -1, 3, dtype=tf.float64, seed=s),
    "normal64": lambda s: tf.random_normal([5], dtype=tf.float64, seed=s),
    "truncated64": lambda s: tf.truncated_normal([7], dtype=tf.float64, seed=s),
    "int32": lambda s: tf.random_uniform([6], -5, 10, dtype=tf.int32, seed=s),
    "int64": lambda s: tf.random_uniform([5], -5, 10**12, dtype=tf.int64, seed=s),
}
SEEDS = [(1, None), (None, 5), (3, 7), (0, 0), (-4, 12345678901)]
LARGE = {"uniform": tf.random_uniform, "normal": tf.random_normal, "truncated": tf.truncated_normal}


def initial(initializer, shape):
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(1)
        variable = tf.get_variable("w", shape, initializer=initializer)
        session.run(tf.global_variables_initializer())
        return {"shape": shape, "values": numbers(session.run(variable))}


INITIALIZERS = {
    "default": (None, [3, 4]),
    "glorot_uniform": (tf.glorot_uniform_initializer(), [3, 4]),
    "glorot_normal": (tf.glorot_normal_initializer(), [3, 4]),
    "he_normal": (I.he_normal(seed=3), [3, 4]),
    "he_uniform": (I.he_uniform(), [3, 4]),
    "lecun_normal": (I.lecun_normal(), [3, 4]),
    "lecun_uniform": (I.lecun_uniform(), [5]),
    "random_uniform": (tf.random_uniform_initializer(-1, 2, seed=4), [3, 4]),
    "random_normal": (tf.random_normal_initializer(1.0, 2.0), [3, 4]),
    "truncated_normal": (tf.truncated_normal_initializer(0.0, 0.5), [3, 4]),
    "uniform_unit_scaling": (tf.uniform_unit_scaling_initializer(1.5), [3, 4]),
    "variance_scaling": (tf.variance_scaling_initializer(2.0, "fan_out", "uniform"), [3, 4]),
    "untruncated": (tf.variance_scaling_initializer(2.0, "fan_avg", "untruncated_normal"), [2, 2, 3, 4]),
    "orthogonal": (tf.orthogonal_initializer(1.3), [3, 5]),
    "orthogonal_tall": (tf.orthogonal_initializer(seed=2), [5, 2]),
    "identity": (I.identity(2.0), [2, 3]),
    "constant": (tf.constant_initializer(0.5), [2]),
    "ones": (tf.ones_initializer(), [2]),
}
X = [[1.0, 2.0, -3.0], [0.5, 0.25, 4.0], [-1.0, 0.0, 2.0], [2.0, 2.5, 1.5]]


def layers():
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(42)
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        hidden = tf.layers.dense(x, 5, activation=tf.nn.tanh)
        dropped = tf.layers.dropout(hidden, 0.4, training=True)
        normal = tf.layers.batch_normalization(dropped, momentum=0.9, training=True)
        outputs = tf.layers.dense(normal, 2, use_bias=False, name="logits")
        infer = tf.layers.batch_normalization(hidden, momentum=0.9, name="batch_normalization", reuse=True)
        updates = tf.get_collection("update_ops")
        session.run(tf.global_variables_initializer())
        steps = []
        for _ in range(2):
            values = session.run([hidden, dropped, normal, outputs], {x: X})
            session.run(updates, {x: X})
            steps.append([v.tolist() for v in values])
        variables = {v.name: numbers(session.run(v)) for v in tf.global_variables()}
        return {
            "x": X,
            "steps": steps,
            "variables": variables,
            "inference": session.run(infer, {x: X}).tolist(),
            "trainable": [v.name for v in tf.trainable_variables()],
            "updates": [u.name for u in updates],
        }


json.dump(
    {
        "about": "Three runs of each random op by graph seed and op seed; the last four of 100003 "
        "numbers of graph seed 1, op seed 2; variables of graph seed 1; layers of graph seed 42. "
        "TensorFlow " + tf.__version__,
        "draws": [
            {"graph_seed": g, "op_seed": o, "kind": k, "values": draws(g, o, f)}
            for g, o in SEEDS
            for k, f in KINDS.items()
        ],
        "large": {k: draws(1, 2, lambda s: f([100003], seed=s)[-4:]) for k, f in LARGE.items()},
        "initializers": {k: initial(*v) for k, v in INITIALIZERS.items()},
        "layers": layers(),
    },
    sys.stdout,
    indent=0,
)
