"""Random boosted trees in TensorFlow 1.15 (later versions have no kernels for them):

  trees.py begin FOLDER [SEED [COUNT]]   trains each model, and writes its folder in the middle of the
                                         training to FOLDER/<i>/theirs, and the results to trees.json
  trees.py end FOLDER                    resumes ours, FOLDER/<i>/ours, and runs our exports
Between the two, trees.R trains the same models, resumes theirs, and writes ours.
"""
import json
import os
import random
import shutil
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

tf.compat.v1.logging.set_verbosity("FATAL")
fc = tf.feature_column
WORDS = ["red", "green", "blue"]


def random_case(rng, number):
    n = rng.choice([40, 64, 96])
    draw = np.random.RandomState(rng.randrange(2**31))
    data = {"x": draw.randn(n), "z": draw.uniform(-2, 2, n), "w": draw.uniform(0.5, 2, n)}
    words = [rng.choice(WORDS) for _ in range(n)]
    signal = np.sin(2 * data["x"]) + data["z"] ** 2 + np.array([WORDS.index(w) for w in words])
    noisy = signal + 0.3 * draw.randn(n)
    data = {k: np.float32(v).tolist() for k, v in data.items()}
    data["c"] = words
    data["y"] = np.float32(noisy).tolist()
    # Equal class counts would make TensorFlow center a bias of zero without end.
    data["l"] = (noisy > np.quantile(noisy, 0.4)).astype("int32").tolist()
    parts = rng.choice([1, 1, 2, 4])
    pruning = rng.choice(["none", "none", "pre", "post"])
    edges = sorted(set(round(float(e), 2) for e in draw.uniform(-1.5, 1.5, rng.randint(1, 6))))
    args = {
        "n_batches_per_layer": parts, "n_trees": rng.randint(4, 6), "max_depth": rng.randint(1, 4),
        "learning_rate": rng.choice([0.1, 0.3, 1.0]), "pruning_mode": pruning,
        "l1_regularization": rng.choice([0.0, 0.0, 0.01]), "l2_regularization": rng.choice([0.0, 0.01, 0.1]),
        "tree_complexity": 0.0 if pruning == "none" else rng.choice([0.002, 0.005, 0.05]),
        "min_node_weight": rng.choice([0.0, 0.0, 0.02]), "center_bias": rng.random() < 0.3,
        # With more rows than buckets, TensorFlow's quantiles give one too many, and it writes
        # beyond the histogram and crashes.
        "quantile_sketch_epsilon": 0.01,
    }
    # The first gradient of a bias may equal l1, so that rounding decides which is larger, and
    # TensorFlow centers without end.
    args["center_bias"] = args["center_bias"] and args["l1_regularization"] == 0
    # A finished model does not train here, where TensorFlow makes one more step.
    layer = parts  # the middle is between layers, because TensorFlow does not save a partial layer
    return {"number": number, "n": n, "batch": n // parts, "data": data, "edges": edges,
            "is_classifier": rng.random() < 0.5, "weighted": rng.random() < 0.2,
            "columns": rng.choice([["bucketized"], ["indicator", "bucketized"], ["numeric"],
                                   ["numeric", "bucketized", "indicator"]]),
            "args": args, "steps": layer * rng.randint(3, 9), "middle": layer * rng.randint(1, 2)}


def columns_of(case):
    made = {"bucketized": lambda: fc.bucketized_column(fc.numeric_column("x"), case["edges"]),
            "indicator": lambda: fc.indicator_column(fc.categorical_column_with_vocabulary_list("c", WORDS)),
            "numeric": lambda: fc.numeric_column("z")}
    return [made[name]() for name in case["columns"]]


def model_of(case, folder):
    cls = tf.estimator.BoostedTreesClassifier if case["is_classifier"] else tf.estimator.BoostedTreesRegressor
    return cls(columns_of(case), model_dir=folder, weight_column="w" if case["weighted"] else None,
               config=tf.estimator.RunConfig(save_checkpoints_steps=1000, save_summary_steps=1000),
               **case["args"])


def input_of(case, batch, epochs):
    data = case["data"]
    features = {"x": np.float32(data["x"]), "z": np.float32(data["z"]), "w": np.float32(data["w"]),
                "c": np.array(data["c"])}
    labels = np.int32(data["l"]) if case["is_classifier"] else np.float32(data["y"])
    return tf.compat.v1.estimator.inputs.numpy_input_fn(features, labels, batch_size=batch, num_epochs=epochs,
                                                        shuffle=False, num_threads=1)


class Losses(tf.estimator.SessionRunHook):
    def __init__(self):
        self.values = []

    def before_run(self, context):
        return tf.estimator.SessionRunArgs(context.session.graph.get_tensor_by_name(self.name))

    def begin(self):
        graph = tf.compat.v1.get_default_graph()
        self.name = [op.name for op in graph.get_operations() if op.name.endswith("weighted_loss/value")][0] + ":0"

    def after_run(self, context, values):
        self.values.append(float(values.results))


def predictions(case, model):
    key = "probabilities" if case["is_classifier"] else "predictions"
    return [float(p[key][-1]) for p in model.predict(input_of(case, case["n"], 1))]


def train(case, model, steps):
    losses = Losses()
    model.train(input_of(case, case["batch"], None), steps=steps, hooks=[losses])
    return losses.values


def begin(folder, seed, count):
    print("trees: SEED %d, %d models" % (seed, count))
    rng = random.Random(seed)
    cases = [random_case(rng, i) for i in range(count)]
    for case in cases:
        place = os.path.join(folder, str(case["number"]))
        model = model_of(case, place + "/run")
        case["losses"] = train(case, model, case["middle"])
        shutil.copytree(place + "/run", place + "/theirs")
        case["losses"] += train(case, model, case["steps"] - case["middle"])
        case["predictions"] = predictions(case, model)
        case["global_step"] = int(model.get_variable_value("global_step"))
    with open(folder + "/trees.json", "w") as out:
        json.dump(cases, out)


def far(a, b):
    a, b = np.array(a), np.array(b)
    return a.shape != b.shape or not np.all(np.abs(a - b) <= 1e-5 + 1e-4 * np.abs(b))


def served(case, folder):
    """What our export answers, which takes a tensor for each feature that its columns read."""
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        signatures = tf.compat.v1.saved_model.load(session, ["serve"], folder).signature_def
        signature = signatures["predict"]
        key = "probabilities" if case["is_classifier"] else "predictions"
        feeds = {}
        for name, wanted in signature.inputs.items():
            dims = [max(int(dim.size), 1) for dim in wanted.tensor_shape.dim[1:]]
            values = np.array(case["data"][name], tf.as_dtype(wanted.dtype).as_numpy_dtype)
            feeds[wanted.name] = values.reshape([-1] + dims)
        return session.run(signature.outputs[key].name, feeds)[:, -1]


def imported(meta):
    """The logits from the graph and checkpoint of a training in memory here, before and after a step."""
    checkpoint = tf.train.latest_checkpoint(meta["folder"])
    with tf.Graph().as_default() as graph, tf.compat.v1.Session() as session:
        tf.compat.v1.train.import_meta_graph(checkpoint + ".meta").restore(session, checkpoint)
        session.run(tf.compat.v1.tables_initializer())
        ops = {op.type: op for op in graph.get_operations()}
        data = meta["data"]
        columns = [np.array(data["c"]), np.array([np.nan if x is None else x for x in data["x"]]),
                   np.array(data["z"]), np.array(data["y"]).astype(str)]
        feed = dict(zip(ops["IteratorGetNext"].outputs, columns))
        logits = ops["BoostedTreesTrainingPredict"].outputs[0]
        before = session.run(logits, feed)[:, 0]
        session.run(ops["If"], feed)
        return before, session.run(logits, feed)[:, 0]


def end(folder):
    bad = 0
    for meta in json.load(open(folder + "/metas.json")):
        before, after = imported(meta)
        if far(before, meta["logits"]) or far(after, meta["next_logits"]):
            print("%s: its graph computes otherwise in TensorFlow" % meta["folder"])
            bad += 1
    for case in json.load(open(folder + "/trees.json")):
        place = os.path.join(folder, str(case["number"]))
        model = model_of(case, place + "/ours")
        train(case, model, case["steps"] - case["middle"])
        if far(predictions(case, model), case["predictions"]):
            print("model %d: ours, gone on with in TensorFlow, predicts otherwise" % case["number"])
            bad += 1
        if far(served(case, place + "/export"), case["predictions"]):
            print("model %d: our export answers otherwise in TensorFlow" % case["number"])
            bad += 1
    for gaps in json.load(open(folder + "/gaps.json")):
        gaps["is_classifier"] = False
        for name in ["x", "z"]:
            gaps["data"][name] = [float("nan") if x is None else x for x in gaps["data"][name]]
        if far(served(gaps, gaps["export"]), gaps["predictions"]):
            print("%s answers otherwise in TensorFlow where values are missing" % gaps["export"])
            bad += 1
    print("trees: %d of ours differ in TensorFlow" % bad)
    return bad


if sys.argv[1] == "begin":
    begin(sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(10**6),
          int(sys.argv[4]) if len(sys.argv) > 4 else 100)
else:
    sys.exit(1 if end(sys.argv[2]) else 0)
