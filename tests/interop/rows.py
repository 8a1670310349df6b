"""Random custom models with embedding look-ups: rows.py <folder> [seed [count]] writes rows.json with
the description, data, losses and variables of each model, trained in TensorFlow 2.x's graphs; rows.R
compares.
"""
import json
import os
import random
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np  # noqa: E402
import tensorflow.compat.v1 as tf  # noqa: E402

tf.disable_v2_behavior()
tf.logging.set_verbosity("ERROR")

folder = sys.argv[1]
seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(10**6)
count = int(sys.argv[3]) if len(sys.argv) > 3 else 60
rng = random.Random(seed)
ROWS, WIDTH, BATCH, IDS, INPUTS = 7, 3, 4, 3, 2
LOOKUPS = ["plain", "loop", "branch", "branches", "map", "branch_in_loop", "carried", "masked"]
CLIPS = ["none", "global_norm", "norm", "value", "identity", "add_n"]
ACTIVATIONS = ["tanh", "relu", "sigmoid", "softplus"]
OPTIMIZERS = {
    "GradientDescent": lambda: tf.train.GradientDescentOptimizer(0.2),
    "Momentum": lambda: tf.train.MomentumOptimizer(0.1, 0.9),
    "Adagrad": lambda: tf.train.AdagradOptimizer(0.2),
    "Adam": lambda: tf.train.AdamOptimizer(0.1),
    "RMSProp": lambda: tf.train.RMSPropOptimizer(0.05, momentum=0.5),
    "Ftrl": lambda: tf.train.FtrlOptimizer(
        0.2, l1_regularization_strength=0.01, l2_regularization_strength=0.02),
    "Adadelta": lambda: tf.train.AdadeltaOptimizer(1.0),
    "ProximalAdagrad": lambda: tf.train.ProximalAdagradOptimizer(
        0.2, l1_regularization_strength=0.01)}


def numbers(*shape):
    # Few digits, so that both sides parse the same numbers.
    return (np.array([rng.randint(-90, 90) for _ in range(int(np.prod(shape)))]) / 64.0).reshape(shape)


def random_model():
    steps = [{"ids": [[rng.randrange(ROWS) for _ in range(IDS)] for _ in range(BATCH)],
              "flags": [rng.random() < 0.3 for _ in range(BATCH)],
              "x": numbers(BATCH, INPUTS).tolist(), "y": numbers(BATCH).tolist()}
             for _ in range(rng.randint(2, 5))]
    return {"lookups": [rng.choice(LOOKUPS) for _ in range(rng.randint(1, 3))],
            "clip": rng.choice(CLIPS), "limit": rng.choice([0.05, 0.5, 3.0]),
            "activation": rng.choice(ACTIVATIONS), "optimizer": rng.choice(list(OPTIMIZERS)),
            "resource": rng.random() < 0.5, "table": numbers(ROWS, WIDTH).tolist(),
            "w": numbers(WIDTH + INPUTS, 2).tolist(), "steps": steps}


def looked_up(kind, table, ids, flags, x):
    """A row for each example."""
    none = tf.zeros([BATCH, WIDTH])
    is_large = tf.reduce_sum(x) > 0.1
    column = lambda i: tf.gather(table, tf.gather(ids, i, axis=1))
    start = [tf.constant(0), none]
    if kind == "plain":
        return tf.reduce_mean(tf.gather(table, ids), 1)
    if kind == "loop":
        return tf.while_loop(lambda i, s: i < IDS, lambda i, s: (
            i + 1, s + column(i) * tf.cast(i + 1, tf.float32)), start)[1]
    if kind == "branch":
        return tf.cond(is_large, lambda: column(0) * 2.0, lambda: none)
    if kind == "branches":
        return tf.cond(is_large, lambda: column(0), lambda: column(1) * 3.0)
    if kind == "map":
        return tf.map_fn(lambda row: tf.reduce_sum(tf.gather(table, row), 0), ids, dtype=tf.float32)
    if kind == "branch_in_loop":
        return tf.while_loop(lambda i, s: i < IDS, lambda i, s: (
            i + 1, s + tf.cond(tf.greater(i, 0), lambda: column(i), lambda: none)), start)[1]
    if kind == "carried":
        return tf.while_loop(lambda i, s, t: i < 2, lambda i, s, t: (
            i + 1, s + tf.gather(t, tf.gather(ids, i, axis=1)), t), start + [table * 0.5])[1]
    picked = tf.gather(table, tf.boolean_mask(ids[:, 0], flags))  # sometimes none
    return none + tf.reduce_sum(picked, 0)


def clipped(kind, grads, limit):
    if kind == "global_norm":
        return tf.clip_by_global_norm(grads, limit)[0]
    if kind == "norm":
        return [tf.clip_by_norm(g, limit) for g in grads]
    if kind == "value":
        return [tf.clip_by_value(g, -limit, limit) for g in grads]
    if kind == "identity":
        with tf.control_dependencies(grads):
            return [tf.identity(g) for g in grads]
    return [tf.add_n([g, g]) for g in grads] if kind == "add_n" else grads


def trained(spec):
    with tf.Graph().as_default(), tf.Session() as session:
        ids, flags = tf.placeholder(tf.int32, [BATCH, IDS]), tf.placeholder(tf.bool, [BATCH])
        x, y = tf.placeholder(tf.float32, [BATCH, INPUTS]), tf.placeholder(tf.float32, [BATCH])
        variables = [tf.get_variable(
            name, initializer=tf.constant(spec[name], tf.float32), use_resource=spec["resource"])
            for name in ["table", "w"]]
        found = [looked_up(kind, variables[0], ids, flags, x) for kind in spec["lookups"]]
        net = tf.matmul(tf.concat([tf.add_n(found), x], 1), variables[1])
        activation = getattr(tf.nn, spec["activation"])
        loss = tf.reduce_mean(tf.square(tf.reduce_sum(activation(net), 1) - y))
        optimizer = OPTIMIZERS[spec["optimizer"]]()
        pairs = optimizer.compute_gradients(loss, variables)
        grads = clipped(spec["clip"], [g for g, _ in pairs], spec["limit"])
        train = optimizer.apply_gradients(list(zip(grads, [v for _, v in pairs])))
        session.run(tf.global_variables_initializer())
        losses = []
        for step in spec["steps"]:
            feeds = {ids: step["ids"], flags: step["flags"], x: step["x"], y: step["y"]}
            losses.append(float(session.run([loss, train], feeds)[0]))
        return {"losses": losses, "kinds": [type(g).__name__ == "IndexedSlices" for g in grads],
                "variables": [v.ravel().tolist() for v in session.run(variables)]}


def trained_model():
    """One whose training stays finite: neither JSON nor a comparison takes infinity."""
    while True:
        model = random_model()
        model["result"] = trained(model)
        if np.isfinite(model["result"]["losses"]).all():
            return model


models = [trained_model() for _ in range(count)]
with open(os.path.join(folder, "rows.json"), "w") as file:
    json.dump({"seed": seed, "models": models}, file)
