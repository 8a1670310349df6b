#!/usr/bin/env python3
"""Random feature columns and features, and TensorFlow's input layer on them; columns.R
compares.

  python3 tests/interop/columns.py FILE [SEED]         TensorFlow 1.15, or 2.x up to 2.15
"""
import json
import os
import random
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1
tf1.disable_eager_execution()
tf1.logging.set_verbosity("ERROR")
fc = tf.feature_column

SEED = int(sys.argv[2]) if len(sys.argv) > 2 else random.SystemRandom().randrange(10**6)
CASES = 60
WORDS = ["", "a", "b", "cd", "\u00e9"]
NORMALIZERS = {"half": lambda x: x / 2, "shift": lambda x: x + 1, "square": lambda x: x * x}
rng = random.Random(SEED)


def sparse(rows, draw):
    cells = [(i, j) for i in range(rows) for j in range(rng.randrange(3))]
    if not cells:
        cells = [(0, 0)]
    return {"indices": cells, "values": [draw() for _ in cells], "shape": [rows, 2]}


def draw_features(rows):
    number = lambda: round(rng.uniform(-3, 3), 3)
    integer = lambda: rng.randrange(-1, 6)
    word = lambda: rng.choice(WORDS)
    weighted = sparse(rows, word)
    return {
        "x": [number() for _ in range(rows)],
        "m": [[number(), number()] for _ in range(rows)],
        "i": [[integer(), integer()] for _ in range(rows)],
        "s": [word() for _ in range(rows)],
        "si": sparse(rows, integer),
        "ss": weighted,
        "w": dict(weighted, values=[round(rng.uniform(0.5, 2), 3) for _ in weighted["values"]]),
    }


def draw_numeric():
    key = rng.choice(["x", "m"])
    normalizer = rng.choice([None, *NORMALIZERS])
    return {"kind": "numeric", "key": key, "shape": 2 if key == "m" else 1, "normalizer": normalizer}


def draw_bucketized():
    edges = sorted({round(rng.uniform(-4, 4), 2) for _ in range(rng.randrange(1, 4))})
    return {"kind": "bucketized", "source": draw_numeric(), "boundaries": edges}


def draw_categorical(depth=0):
    kind = rng.choice(["identity", "hashed", "list", "bucketized", "crossed", "weighted"][: 4 if depth else 6])
    if kind == "bucketized":
        return draw_bucketized()
    if kind == "weighted":
        return {"kind": kind, "column": dict(draw_words("list"), key="ss", is_string=True,
                                             words=["a", "cd"]), "weights": "w"}
    if kind == "crossed":
        keys = [rng.choice(["i", "s", "si", "ss"]) if rng.random() < 0.5 else draw_crossable()
                for _ in range(2)]
        return {"kind": kind, "keys": keys, "buckets": rng.randrange(5, 50)}
    return draw_words(kind)


def draw_words(kind):
    key = rng.choice(["i", "si"] if kind == "identity" else ["i", "s", "si", "ss"])
    is_string = key in ("s", "ss")
    column = {"kind": kind, "key": key, "is_string": is_string}
    if kind == "identity":
        column.update(buckets=rng.randrange(4, 8), default=0)
    elif kind == "hashed":
        column.update(buckets=rng.randrange(2, 20))
    else:
        words = WORDS if is_string else list(range(-1, 6))
        column.update(words=rng.sample(words, rng.randrange(2, 4)))
        column.update(oov=rng.randrange(1, 3) if rng.random() < 0.5 else 0)
        if column["oov"] == 0:
            column.update(default=rng.choice([-1, 0, 1]))
    return column


def draw_crossable():
    while True:
        column = draw_categorical(depth=1)
        if column["kind"] != "hashed":
            return column


def make(column):
    kind = column["kind"]
    dtype = tf.string if column.get("is_string") else tf.int64
    if kind == "numeric":
        return fc.numeric_column(column["key"], shape=column["shape"],
                                 normalizer_fn=NORMALIZERS.get(column["normalizer"]))
    if kind == "bucketized":
        return fc.bucketized_column(make(column["source"]), column["boundaries"])
    if kind == "identity":
        return fc.categorical_column_with_identity(column["key"], column["buckets"],
                                                   column["default"])
    if kind == "hashed":
        return fc.categorical_column_with_hash_bucket(column["key"], column["buckets"], dtype)
    if kind == "list":
        return fc.categorical_column_with_vocabulary_list(
            column["key"], column["words"], dtype=dtype, num_oov_buckets=column.get("oov", 0),
            default_value=column.get("default", -1))
    if kind == "weighted":
        return fc.weighted_categorical_column(make(column["column"]), column["weights"])
    keys = [key if isinstance(key, str) else make(key) for key in column["keys"]]
    return fc.crossed_column(keys, column["buckets"])


def dense_column(column):
    made = make(column)
    return made if column["kind"] == "numeric" or column.get("as_is") else fc.indicator_column(made)


def tensor(value):
    if isinstance(value, dict):
        return tf.SparseTensor(np.array(value["indices"], np.int64), value["values"],
                               np.array(value["shape"], np.int64))
    array = np.array(value)
    return tf.constant(array.astype(np.float32) if array.dtype.kind == "f" else array)


def draw_case():
    features = draw_features(rng.randrange(1, 6))
    columns, names = [], set()
    for _ in range(rng.randrange(2, 6)):
        column = draw_numeric() if rng.random() < 0.3 else draw_categorical()
        if column["kind"] == "bucketized":
            column["as_is"] = rng.random() < 0.5
        name = dense_column(column).name
        if name not in names:
            names.add(name)
            columns.append(column)
    with tf.Graph().as_default():
        layer = tf1.feature_column.input_layer({k: tensor(v) for k, v in features.items()},
                                               [dense_column(column) for column in columns])
        with tf1.Session() as session:
            session.run(tf1.tables_initializer())
            values = session.run(layer)
    return {"features": features, "columns": columns, "values": values.tolist()}


with open(sys.argv[1], "w") as file:
    json.dump({"seed": SEED, "cases": [draw_case() for _ in range(CASES)]}, file)
