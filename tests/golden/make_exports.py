#!/usr/bin/env python3
"""Canned estimators of TensorFlow, trained for some steps and exported: descriptions of their
exports and answers. golden/exports.tgz holds the output without a seed; `make interop` draws
models at random.

  python3 tests/golden/make_exports.py FOLDER [SEED COUNT]     TensorFlow 1.15, or 2.x up to 2.15

Each model leaves a folder: case.json (a description from which test-suite_golden_exports.R builds the model, rows,
serialized examples, signatures and answers), its checkpoint, and the SavedModels `raw` and `parsing`.
"""
import base64
import glob
import json
import os
import random
import shutil
import sys
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ["CUDA_VISIBLE_DEVICES"] = ""
import numpy as np
import tensorflow as tf
from tensorflow.core.protobuf import meta_graph_pb2
from tensorflow.python.saved_model import loader_impl

tf1 = tf.compat.v1
tf1.disable_eager_execution()
tf1.logging.set_verbosity("ERROR")
fc, est = tf1.feature_column, tf1.estimator
WORDS = ["red", "green", "blue", "grey", "pink"]
N = 6
# The number of values of a feature: a shape, or any number.
FLOATS = {"x": [1], "z": [1], "m": [2], "q": [2, 2]}
DEFAULTS = {"z": 0.25, "q": 0.5}  # of features that the second row's example lacks
KINDS = {"i": int, "hi": int, "s": str, "g": str, "h": str, "w": float}


# --- data: lists of values of each row, padded for requests of dense tensors

def draw_row_values(rng, key):
    count = rng.choice([0, 1, 1, 2])
    if key == "i":
        return [rng.randrange(6) for _ in range(count)]
    if key == "hi":
        return [rng.randrange(1, 40) for _ in range(count)]
    return [rng.choice(WORDS + ["other"]) for _ in range(count)]


def draw_data(rng):
    data = {}
    for key, shape in FLOATS.items():
        size = int(np.prod(shape))
        data[key] = [[round(rng.uniform(-2, 2), 3) for _ in range(size)] for _ in range(N)]
        if key in DEFAULTS:
            data[key][1] = [DEFAULTS[key]] * size
    for key in ("i", "hi", "s", "g", "h"):
        data[key] = [draw_row_values(rng, key) for _ in range(N)]
        data[key][0] = [1, 2] if KINDS[key] is int else ["red", "blue"]
    data["w"] = [[round(rng.uniform(0.5, 3), 2) for _ in row] for row in data["s"]]
    return data


def dense(key, rows):
    if key in FLOATS:
        return np.array(rows, np.float32).reshape([N] + FLOATS[key])
    width = max(len(row) for row in rows)
    pad = {int: -1, str: b"", float: 0.0}[KINDS[key]]
    dtype = {int: np.int64, str: object, float: np.float32}[KINDS[key]]
    made = np.full([N, width], pad, dtype)
    for i, row in enumerate(rows):
        for j, value in enumerate(row):
            made[i, j] = value.encode() if isinstance(value, str) else value
    return made


def sparse(key, rows):
    indices = [[i, j] for i, row in enumerate(rows) for j in range(len(row))]
    values = [value for row in rows for value in row]
    dtype = {int: tf.int64, str: tf.string, float: tf.float32}[KINDS[key]]
    return tf.SparseTensor(np.array(indices, np.int64), tf.constant(values, dtype),
                           [N, max(len(row) for row in rows)])


def example_of(data, row):
    example = tf1.train.Example()
    for key, rows in data.items():
        if row == 1 and key in DEFAULTS:
            continue
        feature = example.features.feature[key]
        if key in FLOATS or KINDS[key] is float:
            feature.float_list.value.extend(rows[row])
        elif KINDS[key] is int:
            feature.int64_list.value.extend(rows[row])
        else:
            feature.bytes_list.value.extend([value.encode() for value in rows[row]])
    return example.SerializeToString()


# --- columns, as descriptions

def numeric(key):
    return {"kind": "numeric", "key": key, "shape": FLOATS[key], "default": DEFAULTS.get(key)}


def bucketized(key, boundaries):
    return {"kind": "bucketized", "source": numeric(key), "boundaries": boundaries}


def draw_categorical(rng, depth=0):
    kind = rng.choice(["identity", "hashed", "list", "file", "crossed", "weighted", "bucketized"][:7 - 3 * depth])
    if kind == "identity":
        size = rng.randrange(3, 7)
        return {"kind": kind, "key": "i", "buckets": size,
                "default": None if size == 6 else rng.randrange(size)}
    if kind == "hashed":
        key = rng.choice(["h", "hi", "s"])
        return {"kind": kind, "key": key, "is_string": key != "hi", "buckets": rng.randrange(3, 12)}
    if kind in ("list", "file"):
        key = rng.choice(["s", "g"] if kind == "file" else ["s", "g", "hi"])
        oov = rng.randrange(3)
        column = {"kind": kind, "key": key, "is_string": key != "hi", "oov": oov,
                  "default": rng.choice([-1, 0]) if oov == 0 else -1}
        if kind == "list":
            column["words"] = sorted(rng.sample(range(1, 40), 5)) if key == "hi" else rng.sample(WORDS, 3)
        else:
            column["size"] = rng.choice([None, 3, 5])
        return column
    if kind == "crossed":
        # A cross of names expects strings in the examples.
        parts = [rng.choice(["s", "g", "h"]), rng.choice(["g", "h", "column", "buckets"])]
        if parts[0] == parts[1]:
            parts[1] = "buckets"
        parts = [draw_categorical(rng, 1) if part == "column" else
                 bucketized("x", [-1, 0.5]) if part == "buckets" else part for part in parts]
        if any(isinstance(part, dict) and part["kind"] == "hashed" for part in parts):
            return draw_categorical(rng, depth)
        rng.shuffle(parts)
        return {"kind": kind, "keys": parts, "buckets": rng.randrange(5, 30),
                "hash_key": rng.choice([None, 5])}
    if kind == "weighted":
        return {"kind": kind, "weights": "w", "column": rng.choice([
            {"kind": "hashed", "key": "s", "is_string": True, "buckets": 7},
            {"kind": "list", "key": "s", "is_string": True, "words": WORDS, "oov": 0, "default": -1}])}
    return bucketized(rng.choice(["x", "m"]), sorted({round(rng.uniform(-2, 2), 2) for _ in range(3)}))


def draw_dense(rng):
    kind = rng.choice(["numeric", "numeric", "bucketized", "indicator", "embedding", "embedding", "shared"])
    if kind == "numeric":
        return numeric(rng.choice(list(FLOATS)))
    if kind == "bucketized":
        return bucketized(rng.choice(["x", "m"]), [-0.5, 0.0, 1.25])
    if kind == "shared":
        return {"kind": kind, "dimension": 2, "combiner": rng.choice(["mean", "sum", "sqrtn"]), "columns": [
            {"kind": "list", "key": key, "is_string": True, "words": WORDS, "oov": 1, "default": -1}
            for key in ("s", "g")]}
    column = {"kind": kind, "column": draw_categorical(rng)}
    if kind == "embedding":
        column.update(dimension=rng.choice([1, 3]), combiner=rng.choice(["mean", "sum", "sqrtn"]),
                      max_norm=rng.choice([None, 0.4]))
    return column


WIDE = [
    numeric("x"), numeric("m"), numeric("q"), bucketized("z", [-0.5, 0.0, 1.25]),
    {"kind": "identity", "key": "i", "buckets": 4, "default": 2},
    {"kind": "hashed", "key": "h", "is_string": True, "buckets": 7},
    {"kind": "hashed", "key": "hi", "is_string": False, "buckets": 5},
    {"kind": "list", "key": "s", "is_string": True, "words": WORDS[:3], "oov": 2, "default": -1},
    {"kind": "file", "key": "g", "is_string": True, "size": 3, "oov": 1, "default": -1},
    {"kind": "weighted", "weights": "w", "column":
        {"kind": "hashed", "key": "s", "is_string": True, "buckets": 7}},
    {"kind": "crossed", "keys": ["g", "h"], "buckets": 13, "hash_key": None},
    # A cross of a name and a column hashes the sparse part first.
    {"kind": "crossed", "keys": ["s", bucketized("x", [-1, 0.5])], "buckets": 17, "hash_key": 5},
]
DEEP = [
    numeric("x"), numeric("m"), numeric("q"), bucketized("z", [-0.5, 0.0, 1.25]),
    {"kind": "indicator", "column": {"kind": "identity", "key": "i", "buckets": 6, "default": None}},
    {"kind": "indicator", "column": WIDE[9]},
    {"kind": "indicator", "column": WIDE[8]},
    {"kind": "embedding", "column": WIDE[5], "dimension": 3, "combiner": "sqrtn", "max_norm": 0.4},
    {"kind": "embedding", "column": WIDE[7], "dimension": 2, "combiner": "sum", "max_norm": None},
    {"kind": "embedding", "column": WIDE[10], "dimension": 1, "combiner": "mean", "max_norm": None},
    {"kind": "embedding", "column": WIDE[9], "dimension": 2, "combiner": "mean", "max_norm": None},
    {"kind": "shared", "dimension": 2, "combiner": "mean", "columns": [
        {"kind": "list", "key": key, "is_string": True, "words": WORDS, "oov": 1, "default": -1}
        for key in ("s", "g")]},
]


def make(column, vocabulary):
    kind = column["kind"]
    dtype = tf.string if column.get("is_string") else tf.int64
    if kind == "numeric":
        return fc.numeric_column(column["key"], column["shape"], default_value=column.get("default"))
    if kind == "bucketized":
        return fc.bucketized_column(make(column["source"], vocabulary), column["boundaries"])
    if kind == "identity":
        return fc.categorical_column_with_identity(column["key"], column["buckets"], column["default"])
    if kind == "hashed":
        return fc.categorical_column_with_hash_bucket(column["key"], column["buckets"], dtype)
    if kind == "list":
        return fc.categorical_column_with_vocabulary_list(
            column["key"], column["words"], dtype, column["default"], column["oov"])
    if kind == "file":
        return fc.categorical_column_with_vocabulary_file(
            column["key"], vocabulary, column["size"], column["oov"],
            column["default"] if column["oov"] == 0 else None)
    if kind == "weighted":
        return fc.weighted_categorical_column(make(column["column"], vocabulary), column["weights"])
    if kind == "crossed":
        keys = [key if isinstance(key, str) else make(key, vocabulary) for key in column["keys"]]
        return fc.crossed_column(keys, column["buckets"], column["hash_key"])
    if kind == "indicator":
        return fc.indicator_column(make(column["column"], vocabulary))
    if kind == "embedding":
        return fc.embedding_column(make(column["column"], vocabulary), column["dimension"],
                                   column["combiner"], max_norm=column["max_norm"])
    return fc.shared_embedding_columns([make(x, vocabulary) for x in column["columns"]],
                                       column["dimension"], column["combiner"])


def make_all(columns, vocabulary):
    made = {}
    for column in columns:
        parts = make(column, vocabulary)
        for part in parts if column["kind"] == "shared" else [parts]:
            made.setdefault(part.name, part)
    return list(made.values())


# --- models

HEADS = {
    "classifier": [{}, {"n_classes": 3}, {"label_vocabulary": ["no", "yes"]},
                   {"n_classes": 3, "label_vocabulary": ["lo", "mid", "hi"]}],
    "regressor": [{}, {"label_dimension": 2}],
}


def fixed_models():
    for family in ("linear", "dnn", "dnn_linear_combined", "baseline"):
        for kind, heads in HEADS.items():
            for k, head in enumerate(heads):
                # Each family has all heads, and each kind of head all columns.
                if family == "dnn_linear_combined" and k % 2 == 0:
                    continue
                # Source packages limit paths to 100 bytes.
                yield "%s_%s_%d" % (family.replace("dnn_linear_", ""), kind, k + 1), {
                    "family": family, "kind": kind, "head": head,
                    "linear": WIDE if "linear" in family else [], "dnn": DEEP if "dnn" in family else []}


def random_models(rng, count):
    for k in range(count):
        family = rng.choice(["linear", "dnn", "dnn_linear_combined"])
        kind = rng.choice(list(HEADS))
        wide = [rng.choice([draw_categorical(rng), numeric(rng.choice(list(FLOATS)))]) for _ in range(rng.randrange(1, 6))]
        deep = [draw_dense(rng) for _ in range(rng.randrange(1, 5))]
        yield "%02d_%s_%s" % (k, family, kind), {
            "family": family, "kind": kind, "head": rng.choice(HEADS[kind]),
            "linear": wide if "linear" in family else [], "dnn": deep if "dnn" in family else []}


def estimator_of(model, folder, vocabulary, seed):
    config = est.RunConfig(model_dir=folder, tf_random_seed=seed)
    wide, deep = (make_all(model[part], vocabulary) for part in ("linear", "dnn"))
    name = {"linear": "Linear", "dnn": "DNN", "dnn_linear_combined": "DNNLinearCombined",
            "baseline": "Baseline"}[model["family"]] + model["kind"].capitalize()
    own = {"linear": dict(feature_columns=wide), "baseline": {},
           "dnn": dict(feature_columns=deep, hidden_units=[4, 3]),
           "dnn_linear_combined": dict(linear_feature_columns=wide, dnn_feature_columns=deep,
                                       dnn_hidden_units=[3])}[model["family"]]
    return getattr(est, name)(config=config, **own, **model["head"]), wide + deep


def labels_of(model, rng):
    head = model["head"]
    if model["kind"] == "regressor":
        return np.array([[rng.uniform(-2, 2) for _ in range(head.get("label_dimension", 1))]
                         for _ in range(N)], np.float32)
    ids = [k % head.get("n_classes", 2) for k in range(N)]
    words = head.get("label_vocabulary")
    return np.array([[words[k].encode() if words else k] for k in ids])


# --- descriptions and answers of an export

def info_of(info):
    return {"dtype": tf.DType(info.dtype).name, "shape": [d.size for d in info.tensor_shape.dim]}


def look(folder):
    meta = loader_impl.parse_saved_model(folder).meta_graphs[0]
    assets = []
    for item in meta.collection_def["saved_model_assets"].any_list.value:
        asset = meta_graph_pb2.AssetFileDef()
        item.Unpack(asset)
        assets.append(asset.filename)
    if not assets:
        del meta.collection_def["saved_model_assets"]
    return {
        "signatures": {key: {
            "method_name": signature.method_name,
            "inputs": {name: info_of(info) for name, info in sorted(signature.inputs.items())},
            "outputs": {name: info_of(info) for name, info in sorted(signature.outputs.items())},
        } for key, signature in sorted(meta.signature_def.items())},
        "tags": list(meta.meta_info_def.tags),
        "collections": {key: value.WhichOneof("kind") for key, value in sorted(meta.collection_def.items())},
        "collection_sizes": {key: len(getattr(value, value.WhichOneof("kind")).value)
                             for key, value in sorted(meta.collection_def.items())},
        "assets": sorted(assets),
        "asset_file_def": sorted(asset.filename for asset in meta.asset_file_def),
        "files": sorted(os.path.relpath(os.path.join(at, name), folder)
                        for at, _, names in os.walk(folder) for name in names
                        if name != "fingerprint.pb"),
    }


def plain(value):
    value = np.asarray(value)
    flat = value.ravel().tolist()
    return {"shape": list(value.shape),
            "values": [x.decode() if isinstance(x, bytes) else x for x in flat]}


def ask(folder, inputs):
    """What each signature answers; inputs: feature -> array, or the examples."""
    answers = {}
    with tf1.Graph().as_default(), tf1.Session() as session:
        meta = tf1.saved_model.load(session, ["serve"], folder)
        for key, signature in meta.signature_def.items():
            # A signature with one feature may name its input differently.
            feed = {info.name: inputs if not isinstance(inputs, dict)
                    else inputs[name if name in inputs else next(iter(inputs))]
                    for name, info in signature.inputs.items()}
            values = session.run({name: info.name for name, info in signature.outputs.items()}, feed)
            answers[key] = {name: plain(value) for name, value in sorted(values.items())}
    return answers


def receivers_of(columns):
    spec = fc.make_parse_example_spec(columns)
    # tf.estimator does not export the class of make_parse_example_spec's values.
    def raw():
        features = {}
        for key, feature in spec.items():
            shape = list(feature.shape) if isinstance(feature, tf1.FixedLenFeature) else [None]
            features[key] = tf1.placeholder(feature.dtype, [None] + shape, name=key)
        if not features:
            features = {"rows": tf1.placeholder(tf.float32, [None], name="rows")}
        return est.export.ServingInputReceiver(features, features)

    def parsing():
        examples = tf1.placeholder(tf.string, [None], name="input_example_tensor")
        features = tf1.parse_example(examples, spec) if spec else {"rows": tf1.to_float(tf.strings.length(examples))}
        return est.export.ServingInputReceiver(features, {"examples": examples})
    return spec, raw, parsing


def run_one(name, model, folder, rng, vocabulary):
    where = os.path.join(folder, name)
    os.makedirs(where)
    scratch = tempfile.mkdtemp()
    data = draw_data(rng)
    estimator, columns = estimator_of(model, scratch, vocabulary, rng.randrange(10**6))
    spec, raw, parsing = receivers_of(columns)
    labels = labels_of(model, rng)

    def input_fn():
        features = {key: sparse(key, data[key]) if isinstance(feature, tf1.VarLenFeature)
                    else tf.constant(dense(key, data[key])) for key, feature in spec.items()}
        if not features:
            features = {"x": tf.constant(dense("x", data["x"]))}
        return features, tf.constant(labels)

    estimator.train(input_fn, steps=3)
    examples = [example_of(data, row) for row in range(N)]
    rows = {key: dense(key, data[key]) for key in spec} or {"rows": np.zeros([N], np.float32)}
    case = {
        "tensorflow": tf.__version__, "model": model,
        "features": {key: {"dtype": tf.as_dtype(feature.dtype).name,
                           "shape": list(feature.shape) if isinstance(feature, tf1.FixedLenFeature) else None}
                     for key, feature in spec.items()},
        "rows": {key: plain(value) for key, value in rows.items()},
        "examples": [base64.b64encode(x).decode() for x in examples],
    }
    for kind, receiver in (("raw", raw), ("parsing", parsing)):
        made = estimator.export_saved_model(os.path.join(scratch, kind), receiver)
        made = made.decode() if isinstance(made, bytes) else made
        shutil.move(made, os.path.join(where, kind))
        shutil.rmtree(os.path.join(where, kind, "assets.extra"), ignore_errors=True)
        for leftover in glob.glob(os.path.join(where, kind, "fingerprint.pb")):
            os.remove(leftover)
        case[kind] = dict(look(os.path.join(where, kind)),
                          answers=ask(os.path.join(where, kind), rows if kind == "raw" else examples))
    for path in glob.glob(os.path.join(scratch, "model.ckpt-3.*")) + [os.path.join(scratch, "checkpoint")]:
        if not path.endswith(".meta"):
            shutil.copy(path, where)
    with open(os.path.join(where, "checkpoint"), "w") as file:
        file.write('model_checkpoint_path: "model.ckpt-3"\nall_model_checkpoint_paths: "model.ckpt-3"\n')
    with open(os.path.join(where, "case.json"), "w") as file:
        json.dump(case, file, separators=(",", ":"))
    shutil.rmtree(scratch)


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    vocabulary = os.path.join(folder, "words.txt")
    with open(vocabulary, "w") as file:
        file.write("\n".join(WORDS) + "\n")
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    rng = random.Random(seed)
    models = random_models(rng, int(sys.argv[3])) if len(sys.argv) > 2 else fixed_models()
    for name, model in models:
        run_one(name, model, folder, rng, vocabulary)
        print("made", name, flush=True)


main()
