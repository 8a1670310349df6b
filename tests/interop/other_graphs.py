#!/usr/bin/env python3
"""SavedModels of graphs without estimators: conv nets, strings, tables with files, conditionals.
other_graphs.R loads them and compares their answers.

  python3 tests/interop/other_graphs.py FOLDER         TensorFlow 1.15, or 2.x up to 2.15
"""
import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ["CUDA_VISIBLE_DEVICES"] = ""
import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1
tf1.disable_eager_execution()
tf1.disable_v2_behavior()  # conditionals as Switch and Merge
tf1.logging.set_verbosity("ERROR")
FOLDER = sys.argv[1]
rng = np.random.RandomState(1)


def variable(name, shape, use_resource=False):
    return tf1.get_variable(name, initializer=rng.normal(size=shape).astype(np.float32) / 2,
                            use_resource=use_resource)


def conv_net():
    x = tf1.placeholder(tf.float32, [None, 8, 8, 3], name="x")
    y = tf.nn.relu(tf1.nn.conv2d(x, variable("k1", [3, 3, 3, 4]), [1, 1, 1, 1], "SAME"))
    y = tf1.nn.max_pool(y, [1, 2, 2, 1], [1, 2, 2, 1], "VALID")
    y = tf1.nn.batch_normalization(y, variable("mean", [4]), tf.abs(variable("var", [4])) + 1,
                                   variable("offset", [4]), variable("scale", [4]), 0.001)
    y = tf1.nn.depthwise_conv2d(y, variable("k2", [3, 3, 4, 1], True), [1, 1, 1, 1], "SAME")
    y = tf1.nn.bias_add(tf1.nn.avg_pool(y, [1, 2, 2, 1], [1, 2, 2, 1], "VALID"), variable("b", [4]))
    y = tf.matmul(tf.reshape(y, [-1, 16]), variable("w", [16, 3]))
    return {"x": x}, {"p": tf.nn.softmax(y), "k": tf.argmax(y, 1)}, {"x": rng.normal(size=[5, 8, 8, 3])}


def with_training_switch():
    """A conditional with several layers in it, asked with training = FALSE."""
    x = tf1.placeholder(tf.float32, [None, 3], name="x")
    training = tf1.placeholder_with_default(False, [], name="training")
    y = tf1.layers.dense(x, 4, kernel_initializer=tf1.constant_initializer(0.3))
    y = tf1.layers.batch_normalization(y, training=training)
    y = tf1.layers.dropout(y, 0.5, training=training)
    y = tf.cond(tf.reduce_sum(y) > 0, lambda: tf.cond(training, lambda: -y, lambda: y + 1),
                lambda: y * variable("factor", [4], True))
    return {"x": x}, {"y": y}, {"x": rng.normal(size=[4, 3])}


def several_results():
    x = tf1.placeholder(tf.float32, [None], name="x")
    a, b = tf.cond(tf.size(x) > 3, lambda: (x * 2, tf.constant(1)), lambda: (x - 1, tf.constant(2)))
    c = tf.case([(tf.reduce_sum(x) > 100, lambda: a), (tf.reduce_sum(x) > 0, lambda: a + 1)],
                default=lambda: a - tf1.cast(b, tf.float32))
    with tf1.control_dependencies([tf1.assert_less(x, 1000.0)]):
        d = tf.identity(c)
    return {"x": x}, {"a": a, "b": tf.fill([tf.size(x)], b), "d": d}, {"x": np.arange(1.0, 6.0)}


def words():
    s = tf1.placeholder(tf.string, [None], name="s")
    path = os.path.join(FOLDER, "vocabulary.txt")
    with open(path, "w") as file:
        file.write("red\ngreen\nblue\n")
    files = tf.constant(path)
    tf1.add_to_collection(tf1.GraphKeys.ASSET_FILEPATHS, files)
    table = tf.lookup.StaticVocabularyTable(
        tf.lookup.TextFileInitializer(files, tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64,
                                      tf.lookup.TextFileIndex.LINE_NUMBER), 3)
    other = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(
        tf.constant(["red", "blue"]), tf.constant([10.5, 20.5])), -1.0)
    joined = tf.strings.join([tf1.strings.substr(s, 0, 2), tf1.as_string(tf1.strings.length(s))], "_")
    return {"s": s}, {
        "id": table.lookup(s), "value": other.lookup(s), "joined": joined,
        "bucket": tf1.string_to_hash_bucket_fast(s, 100), "strong":
            tf1.string_to_hash_bucket_strong(s, 100, [3, 4]),
        "replaced": tf1.strings.regex_replace(s, "e+", "E"),
        "matches": tf1.cast(tf1.strings.regex_full_match(s, "[a-r]*"), tf.int32),
    }, {"s": ["red", "blue", "yellow", ""]}


def sparse_parts():
    examples = tf1.placeholder(tf.string, [None], name="examples")
    parsed = tf1.parse_example(examples, {
        "x": tf1.FixedLenFeature([2], tf.float32, default_value=[0.5, 1.5]),
        "n": tf1.VarLenFeature(tf.int64),
        "f": tf1.SparseFeature("at", "value", tf.float32, 6),
        "q": tf1.FixedLenSequenceFeature([], tf.string, allow_missing=True, default_value="-"),
    })
    weights = variable("weights", [10, 3])
    sums = tf1.nn.embedding_lookup_sparse(weights, parsed["n"], None, combiner="sqrtn")
    return {"examples": examples}, {
        "x": parsed["x"], "sums": sums, "dense": tf1.sparse_tensor_to_dense(parsed["f"]),
        "q": parsed["q"],
    }, {"examples": [example(k) for k in range(4)]}


def example(k):
    made = tf1.train.Example()
    feature = made.features.feature
    if k != 1:
        feature["x"].float_list.value.extend([k, -k])
    feature["n"].int64_list.value.extend(range(k + 1))
    feature["at"].int64_list.value.extend([k, 5][: 1 + (k < 3)])
    feature["value"].float_list.value.extend([2.5, k][: 1 + (k < 3)])
    feature["q"].bytes_list.value.extend([b"a", b"bc", b"\xc3\xa9"][:k])
    return made.SerializeToString()


def plain(value):
    value = np.asarray(value)
    values = value.ravel().tolist()
    return {"shape": list(value.shape), "dtype": "string" if value.dtype == object else str(value.dtype),
            "values": [x.decode() if isinstance(x, bytes) else x for x in values]}


def write(name, build):
    import base64
    with tf1.Graph().as_default(), tf1.Session() as session:
        inputs, outputs, data = build()
        session.run([tf1.global_variables_initializer(), tf1.tables_initializer()])
        tf1.saved_model.simple_save(session, os.path.join(FOLDER, name), inputs, outputs,
                                    legacy_init_op=tf1.tables_initializer())
        feed = {inputs[key]: value for key, value in data.items()}
        values = session.run(outputs, feed)
    case = {"outputs": {key: plain(value) for key, value in values.items()}}
    if name == "sparse_parts":
        case["examples"] = [base64.b64encode(x).decode() for x in data["examples"]]
    else:
        case["rows"] = {key: plain(np.array(value, object if isinstance(value[0], str) else np.float32))
                        for key, value in data.items()}
    with open(os.path.join(FOLDER, name, "case.json"), "w") as file:
        json.dump(case, file)


for made in (conv_net, with_training_switch, several_results, words, sparse_parts):
    write(made.__name__, made)
