#!/usr/bin/env python3
"""Reads files that src/io wrote with a real TensorFlow.

  RUNHOOKS_INTEROP=/tmp/x make cpptest T=io_interop        writes the files
  python3 tests/interop/io_check.py /tmp/x                 reads them, with TensorFlow 1.15 or 2.x
"""
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
from google.protobuf import text_format
from tensorflow.core.framework import op_def_pb2

tf1 = tf.compat.v1
tf1.disable_eager_execution()
tf1.logging.set_verbosity("ERROR")
HERE = sys.argv[1]
FAILED = []


def check(name, good):
    print(("ok      " if good else "FAILED  ") + name)
    if not good:
        FAILED.append(name)


def path(*parts):
    return os.path.join(HERE, *parts)


def read(*parts):
    with open(path(*parts), "rb") as f:
        return f.read()


def check_bundle():
    prefix = tf1.train.latest_checkpoint(path("bundle"))
    check("latest_checkpoint", prefix == path("bundle", "model.ckpt-3"))
    reader = tf1.train.load_checkpoint(prefix)
    expected = {
        "f32": np.array([[1.5, -2], [0, 3e38]], np.float32), "f64": np.float64(0.1), "i32": np.array([-1, 7], np.int32),
        "i64": np.int64(-5), "bool": np.array([True, False]), "empty": np.zeros([0, 3], np.float32),
        "u8": np.array([0, 255], np.uint8), "i8": np.array([-128, 127], np.int8), "i16": np.array([-300], np.int16),
        "u16": np.array([65535], np.uint16), "f16": np.array([1.5], np.float16),
        "part": np.array([[1, 2], [3, 4], [5, 6]], np.float32), "many/variable_4999": np.int32(4999),
    }
    for name, value in expected.items():
        got = reader.get_tensor(name)
        check("bundle " + name, np.array_equal(got, value) and np.asarray(got).dtype == np.asarray(value).dtype)
    check("bundle string", reader.get_tensor("string").tolist() == [["h\u00e9llo".encode()], [b"\0\xff"]])
    with tf.Graph().as_default(), tf1.Session() as s:
        types = [tf.bfloat16, tf.uint32, tf.uint64]
        out = s.run([tf.cast(t, tf.float64) if t.dtype == tf.bfloat16 else t
                     for t in tf.raw_ops.RestoreV2(prefix=prefix, tensor_names=["bf16", "u32", "u64"],
                                                   shape_and_slices=["", "", ""], dtypes=types)])
        check("bundle bf16, u32, u64", out[0] == 1.5 and out[1] == 2**32 - 1 and out[2] == 2**64 - 1)
        part = s.run(tf.raw_ops.RestoreV2(prefix=prefix, tensor_names=["part"], shape_and_slices=["3 2 1,2:0,2"],
                                          dtypes=[tf.float32]))[0]
        check("bundle part read across slices", part.tolist() == [[3, 4], [5, 6]])


def check_records():
    kinds = {"": tf1.io.TFRecordOptions(""), "GZIP": tf1.io.TFRecordOptions("GZIP"), "ZLIB": tf1.io.TFRecordOptions("ZLIB")}
    for kind, options in kinds.items():
        records = list(tf1.io.tf_record_iterator(path("records", "x" + kind), options))
        check("records " + (kind or "plain"), records == [bytes([i]) * (i * i) for i in range(100)])


def check_events():
    (name,) = os.listdir(path("events"))
    events = list(tf1.train.summary_iterator(path("events", name)))
    check("event count", len(events) == 7)
    check("event version", events[0].file_version == "brain.Event:2" and events[0].wall_time == 1700000000)
    check("event graph", tf1.GraphDef.FromString(events[1].graph_def).node[-1].name == "init")
    check("event scalars", [(v.tag, v.simple_value) for v in events[4].summary.value] == [("loss", 2.5), ("zero", 0)])
    with tf.Graph().as_default(), tf1.Session() as s:
        golden = tf1.Summary.FromString(s.run(tf1.summary.histogram("h", tf.constant([-1, 0, 0.25, 3], tf.float64))))
    check("event histogram", events[5].summary.value[0].histo == golden.value[0].histo)
    check("event text", tf1.make_ndarray(events[5].summary.value[1].tensor).tolist() == [b"first", b"second"])
    check("event session log", events[6].session_log.checkpoint_path == "dir/model.ckpt" and events[6].step == 7)


def check_graphs():
    feed = {"x:0": [[1, 2]]}
    for name in ("graph.pb", "stripped.pb"):
        with tf.Graph().as_default(), tf1.Session() as s:
            tf.import_graph_def(tf1.GraphDef.FromString(read("graphs", name)), name="")
            s.run("init")
            check(name + " runs", s.run("y:0", feed).tolist() == [[0.5]])
    text = tf1.GraphDef()
    text_format.Merge(read("graphs", "graph.pbtxt").decode(), text)
    check("graph.pbtxt is graph.pb", text == tf1.GraphDef.FromString(read("graphs", "graph.pb")))
    tf1.train.write_graph(text, HERE, "again.pbtxt")
    if not tf.__version__.startswith("1."):  # its protobuf orders attributes differently
        check("graph.pbtxt is as TensorFlow writes it", read("again.pbtxt") == read("graphs", "graph.pbtxt"))
    with tf.Graph().as_default(), tf1.Session() as s:
        tf.import_graph_def(tf1.GraphDef.FromString(read("graphs", "kinds.pb")), name="")
        check("kinds of attributes", s.run(["bucketize:0", "squeeze:0", "twice:0"])[0].ravel().tolist() == [2, 0, 1])
        check("second output and control input", s.run("twice:0").tolist() == [0, 2, 0])
        check("shapes", s.graph.get_tensor_by_name("squeeze:0").shape.as_list() == [3])
    with tf.Graph().as_default(), tf1.Session() as s:
        saver = tf1.train.import_meta_graph(path("graphs", "model.meta"))
        variables = tf1.global_variables()
        check("meta graph variables", [v.name for v in variables] == ["w:0", "b:0"] and tf1.trainable_variables() == variables)
        check("meta graph collections", tf1.get_collection("train_op") == [s.graph.get_operation_by_name("init")])
        saver.restore(s, path("saved_model", "variables", "variables"))
        check("meta graph restores", s.run("y:0", feed).tolist() == [[210.25]])


def tensorflow_ops():
    """The definitions that this TensorFlow was built with, by name."""
    try:
        from tensorflow.python.client import pywrap_tf_session as api
    except ImportError:
        from tensorflow.python import pywrap_tensorflow as api
    ops = op_def_pb2.OpList.FromString(bytes(api.TF_GetBuffer(api.TF_GetAllOpList())))
    return {op.name: op for op in ops.op}


def args_of(args, op, ours):
    """Arguments in comparable form; a type that has become an attribute since is its default, and a
    list that an argument has become since has one element by default."""
    known = {attr.name for attr in ours.attr}
    defaults = {attr.name: attr.default_value for attr in op.attr}
    def number_attr(a):
        was_one = a.number_attr not in known and a.number_attr in defaults
        return "" if was_one and defaults[a.number_attr].i == 1 else a.number_attr
    def default_type(a):
        return defaults[a.type_attr].type if a.type_attr in defaults else 0
    return [(a.type or (0 if a.type_attr in known else default_type(a)),
             a.type_attr if a.type_attr in known else "", number_attr(a), a.type_list_attr, a.is_ref)
            for a in args]


def check_ops():
    """Every op that our files may have is one of TensorFlow's, with its arguments and attributes."""
    known = tensorflow_ops()
    ours = op_def_pb2.OpList.FromString(read("graphs", "ops.pb"))
    check("ops (%d)" % len(ours.op), len(ours.op) > 150)
    for op in ours.op:
        if op.name not in known:
            # TensorFlow 2's exports contain this op; it is read here but never written.
            is_newer = tf.__version__.startswith("1.") and op.name == "ParseExampleV2"
            if not is_newer:
                check("op " + op.name, False)
            continue
        theirs = known[op.name]
        if args_of(op.input_arg, op, op) != args_of(theirs.input_arg, theirs, op):
            check("inputs of " + op.name, False)
        if args_of(op.output_arg, op, op) != args_of(theirs.output_arg, theirs, op):
            check("outputs of " + op.name, False)
        attrs = {attr.name: attr for attr in theirs.attr}
        for attr in op.attr:
            other = attrs.pop(attr.name, None)
            # TensorFlow's reader removes unknown attributes that have their default value.
            if other is None:
                check("attribute %s of %s" % (attr.name, op.name), attr.HasField("default_value"))
            elif attr.type != other.type or (
                    attr.HasField("default_value") and attr.default_value != other.default_value):
                check("type or default of attribute %s of %s" % (attr.name, op.name), False)
        for name, attr in attrs.items():
            if not attr.HasField("default_value"):
                check("attribute %s of %s is missing" % (name, op.name), False)


def check_saved_model():
    with tf.Graph().as_default(), tf1.Session() as s:
        meta = tf1.saved_model.loader.load(s, ["serve"], path("saved_model"))
        signature = meta.signature_def["serving_default"]
        y = s.run(signature.outputs["y"].name, {signature.inputs["x"].name: [[1, 2], [0, 1]]})
        check("saved model, loader", y.tolist() == [[210.25], [100.25]])
    if not tf.__version__.startswith("1."):
        tf.compat.v1.reset_default_graph()
        with tf.Graph().as_default(), tf1.Session() as s:
            model = tf.saved_model.load(path("saved_model"))
            s.run(tf1.global_variables_initializer())
            check("saved model, load", "serving_default" in model.signatures)


print("TensorFlow", tf.__version__)
for part in (check_bundle, check_records, check_events, check_graphs, check_ops, check_saved_model):
    part()
print("%d failed" % len(FAILED))
sys.exit(1 if FAILED else 0)
