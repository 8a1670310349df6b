#!/usr/bin/env python3
"""TensorFlow 1.x's signatures of a custom model's export_outputs, with requests of
numbers and of strings: golden/export_outputs.json.

  python3 tests/golden/make_export_outputs.py FILE         TensorFlow 1.15
"""
import json
import os
import shutil
import sys
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ["CUDA_VISIBLE_DEVICES"] = ""
import tensorflow as tf
from tensorflow.python.saved_model import loader_impl

tf1 = tf.compat.v1
tf1.disable_eager_execution()
tf1.logging.set_verbosity("ERROR")
ex = tf1.estimator.export

# The outputs: a kind and the tensors y [n, 1], p [n, 3], c [n, 3] of strings, k [n] of int64.
P, R, C = "PredictOutput", "RegressionOutput", "ClassificationOutput"
CASES = {
    "none": None,
    "predict": {"serving_default": [P, {"a": "y", "b": "k"}]},
    "predict of one tensor": {"serving_default": [P, "y"]},
    "regression": {"serving_default": [R, {"value": "y"}]},
    "scores": {"serving_default": [C, {"scores": "p"}]},
    "classes": {"serving_default": [C, {"classes": "c"}]},
    "both": {"serving_default": [C, {"scores": "p", "classes": "c"}]},
    "several": {"serving_default": [C, {"scores": "p", "classes": "c"}],
                "more": [P, {"k": "k"}], "number": [R, {"value": "y"}]},
    "one under another name": {"mine": [P, {"a": "y"}]},
    "two without a default": {"mine": [P, {"a": "y"}], "other": [P, {"a": "p"}]},
}


def model_fn_of(case):
    def model_fn(features, labels, mode):
        x = features["x"]
        y = tf1.layers.dense(x, 1)
        p = tf.nn.softmax(tf1.layers.dense(x, 3))
        tensors = {"y": y, "p": p, "k": tf.argmax(p, 1), "c": tf.as_string(p)}

        def made(kind, given):
            if isinstance(given, str):
                return getattr(ex, kind)(tensors[given])
            named = {key: tensors[name] for key, name in given.items()}
            return ex.PredictOutput(named) if kind == P else getattr(ex, kind)(**named)

        outputs = None if case is None else {key: made(*value) for key, value in case.items()}
        loss = tf.reduce_mean(y)
        train = tf1.assign_add(tf1.train.get_global_step(), 1)
        return tf1.estimator.EstimatorSpec(mode, {"y": y, "k": tensors["k"]}, loss, train,
                                           export_outputs=outputs)
    return model_fn


def receiver(kind):
    if kind == "numbers":
        x = tf1.placeholder(tf.float32, [None, 2], name="x")
        return ex.ServingInputReceiver({"x": x}, {"x": x})
    examples = tf1.placeholder(tf.string, [None], name="examples")
    parsed = tf1.parse_example(examples, {"x": tf1.FixedLenFeature([2], tf.float32)})
    return ex.ServingInputReceiver(parsed, {"examples": examples})


def info_of(info):
    return {"dtype": tf.DType(info.dtype).name, "shape": [d.size for d in info.tensor_shape.dim]}


def signatures(estimator, kind, folder):
    try:
        path = estimator.export_saved_model(folder, lambda: receiver(kind))
    except ValueError as error:
        return {"error": str(error)}
    meta = loader_impl.parse_saved_model(path.decode()).meta_graphs[0]
    return {key: {
        "method_name": signature.method_name,
        "inputs": {name: info_of(info) for name, info in sorted(signature.inputs.items())},
        "outputs": {name: info_of(info) for name, info in sorted(signature.outputs.items())},
    } for key, signature in sorted(meta.signature_def.items())}


made = {}
for name, case in CASES.items():
    scratch = tempfile.mkdtemp()
    estimator = tf1.estimator.Estimator(model_fn_of(case), scratch)
    estimator.train(lambda: ({"x": tf.constant([[1.0, 2.0]])}, None), steps=1)
    made[name] = {"outputs": case}
    for kind in ("numbers", "strings"):
        made[name][kind] = signatures(estimator, kind, os.path.join(scratch, kind))
    shutil.rmtree(scratch)
with open(sys.argv[1], "w") as file:
    json.dump(made, file, indent=1, sort_keys=True)
