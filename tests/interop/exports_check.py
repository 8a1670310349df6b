#!/usr/bin/env python3
"""Loads the exports of exports.R and exports_theirs.R in TensorFlow and compares their
answers.

  python3 tests/interop/exports_check.py FOLDER        TensorFlow 1.15, or 2.x up to 2.15

tf.compat.v1.saved_model.load() in each, tf.saved_model.load() in 2.x too.
"""
import base64
import glob
import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1
tf1.logging.set_verbosity("ERROR")
IS_TWO = tf.__version__.startswith("2.")
FAILED = []
TOLERANCE = 1e-5


def check(what, good):
    if not good:
        FAILED.append(what)
        print("FAILED  " + what)


def compare(name, key, actual, expected):
    actual = np.asarray(actual)
    expected = np.asarray(expected)
    if expected.dtype.kind in "US":
        good = [x.decode() for x in actual.ravel()] == [str(x) for x in expected.ravel()]
        check("%s: %s" % (name, key), good)
        return
    good = actual.size == expected.size and np.max(np.abs(actual.ravel() - expected.ravel())) <= TOLERANCE
    check("%s: %s" % (name, key), good)


def column(case, feature, info):
    if feature not in case["rows"]:  # a model without features only needs the number of rows
        return np.zeros(len(case["examples"]), np.float32)
    values = case["rows"][feature]
    dtype = object if info.dtype == tf.string.as_datatype_enum else tf.DType(info.dtype).as_numpy_dtype
    values = [x.encode() for x in values] if dtype is object else values
    return np.array(values, dtype).reshape(-1, 1)


def check_v1(name, folder, case, is_raw):
    with tf1.Graph().as_default(), tf1.Session() as session:
        meta = tf1.saved_model.load(session, ["serve"], folder)
        for key, signature in meta.signature_def.items():
            if is_raw:
                feed = {info.name: column(case, feature, info)
                        for feature, info in signature.inputs.items()}
            else:
                examples = [base64.b64decode(x) for x in case["examples"]]
                feed = {info.name: examples for info in signature.inputs.values()}
            values = session.run({k: info.name for k, info in signature.outputs.items()}, feed)
            if key == "predict":
                for output, expected in case["predicted"].items():
                    compare(name, "v1 " + output, values[output], expected)
            check("%s: %s of %s" % (name, key, len(case["examples"])),
                  all(len(v) == len(case["examples"]) for v in values.values()))


def check_v2(name, folder, case, is_raw):
    model = tf.saved_model.load(folder)
    signature = model.signatures["predict"]
    if is_raw:
        feed = {}
        for feature, spec in signature.structured_input_signature[1].items():
            if feature not in case["rows"]:
                feed[feature] = tf.zeros([len(case["examples"])])
                continue
            values = np.array(case["rows"][feature]).reshape(-1, 1)
            feed[feature] = tf.constant(values.astype(object) if spec.dtype == tf.string else values, spec.dtype)
    else:
        feed = {"examples": tf.constant([base64.b64decode(x) for x in case["examples"]])}
    values = signature(**feed)
    for output, expected in case["predicted"].items():
        compare(name, "v2 " + output, values[output].numpy(), expected)


def array_of(value, dtype):
    values = [x.encode() for x in value["values"]] if dtype == tf.string else value["values"]
    return np.array(values, object if dtype == tf.string else dtype.as_numpy_dtype).reshape(value["shape"])


def check_theirs(name, folder, case, kind):
    """Ours of a model of TensorFlow's: it answers as that one did."""
    examples = [base64.b64decode(x) for x in case["examples"]]
    with tf1.Graph().as_default(), tf1.Session() as session:
        meta = tf1.saved_model.load(session, ["serve"], folder)
        check(name + ": signatures", set(meta.signature_def) == set(case[kind]["answers"]))
        for key, signature in meta.signature_def.items():
            feed = {info.name: array_of(case["rows"][feature], tf.DType(info.dtype))
                    if kind == "raw" else examples for feature, info in signature.inputs.items()}
            values = session.run({k: info.name for k, info in signature.outputs.items()}, feed)
            for output, expected in case[kind]["answers"][key].items():
                compare(name, "%s %s" % (key, output), values[output], expected["values"])
    if not IS_TWO:
        return
    signature = tf.saved_model.load(folder).signatures["predict"]
    feed = {key: tf.constant(array_of(case["rows"][key], spec.dtype), spec.dtype) if kind == "raw"
            else tf.constant(examples) for key, spec in signature.structured_input_signature[1].items()}
    for output, value in signature(**feed).items():
        compare(name, "v2 " + output, value.numpy(), case[kind]["answers"]["predict"][output]["values"])


theirs = sorted(glob.glob(os.path.join(sys.argv[1], "*", "*", "ours")))
for path in theirs:
    with open(os.path.join(os.path.dirname(path), "case.json")) as file:
        case = json.load(file)
    for kind in ("raw", "parsing"):
        name = "%s %s" % (os.path.relpath(os.path.dirname(path), sys.argv[1]), kind)
        before = len(FAILED)
        try:
            check_theirs(name, os.path.join(path, kind), case, kind)
        except Exception as error:  # one model's failure must not hide the others
            check("%s: %s" % (name, str(error)[:600]), False)
        if len(FAILED) == before:
            print("ok      " + name)

paths = sorted(glob.glob(os.path.join(sys.argv[1], "*", "case.json")))
for path in paths:
    folder = os.path.dirname(path)
    with open(path) as file:
        case = json.load(file)
    for kind in ("raw", "parsing"):
        name = os.path.basename(folder) + " " + kind
        before = len(FAILED)
        for checked in (check_v1, check_v2) if IS_TWO else (check_v1,):
            try:
                checked(name, os.path.join(folder, kind), case, kind == "raw")
            except Exception as error:  # one model's failure must not hide the others
                check("%s: %s" % (name, str(error)[:600]), False)
        if len(FAILED) == before:
            print("ok      " + name)
check("there are exports", len(paths) > 0)
count = 2 * (len(paths) + len(theirs))
print("TensorFlow %s: %d exports, %d failed" % (tf.__version__, count, len(FAILED)))
sys.exit(bool(FAILED))
