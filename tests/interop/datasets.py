"""Random input pipelines in TensorFlow 2.x: datasets.py <folder> [seed [count]] writes the sources'
files and pipelines.json with the description and the elements of each pipeline; datasets.R compares.

TensorFlow 1.15 and 2.15 silently drop errors in two cases where this package keeps them (?datasets):
* A short last batch or window that fails also sets `end_of_sequence`. Most transformations pass on both,
  but prefetch, interleave and shuffle forget the end. A window sees the end first, and drops the error
  and everything after it, such as a second pass or another dataset. (An endless repeat in 1.15 does so
  too, or returns uninitialized memory.)
* A map and a following batch are fused into one op. An element that fails then drops its whole batch, which
  changes all later batches. Elements of unequal shapes are an error even if their batch is dropped because
  it is short.
A prefetch between such steps avoids both. So affected pipelines also run in that form. If its elements or
errors differ, or it drops the error of an incomplete batch, it is the expected result. All pipelines are
read to their end, also after errors.
"""
import json
import os
import random
import sys

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1
v1.disable_eager_execution()

folder = sys.argv[1]
seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(10**6)
count = int(sys.argv[3]) if len(sys.argv) > 3 else 500
rng = random.Random(seed)
LIMIT = 60
WORDS = ["a", "b,c", 'q"q', "", "line\nend", "x y", "7"]


def path_of(name, data):
    path = os.path.join(folder, name)
    with open(path, "wb") as file:
        file.write(data)
    return path


# --- sources: a description and TensorFlow's dataset

def range_source(_):
    spec = {"start": rng.randint(-3, 3), "stop": rng.randint(0, 25), "step": rng.choice([1, 2, 3])}
    return spec, tf.data.Dataset.range(spec["start"], spec["stop"], spec["step"])


def slices_source(_):
    n = rng.randint(1, 25)
    numbers = [rng.randint(-50, 50) / 4 for _ in range(n)]
    spec = {"numbers": numbers}
    return spec, tf.data.Dataset.from_tensor_slices(np.array(numbers, np.float32))


def rows_source(_):
    n = rng.randint(1, 25)
    numbers = [[rng.randint(-9, 9) for _ in range(3)] for _ in range(n)]
    words = [rng.choice("abc") for _ in range(n)]
    tensors = (np.array(numbers, np.int32), np.array(words))
    return {"numbers": numbers, "words": words}, tf.data.Dataset.from_tensor_slices(tensors)


def text_source(k):
    ends = rng.choice(["\n", "\r\n"])
    lines = [rng.choice("abcd") * rng.randint(0, 3) for _ in range(rng.randint(0, 15))]
    text = ends.join(lines) + rng.choice(["", ends])
    paths = [path_of("lines%d" % k, text.encode())] * rng.randint(1, 2)
    return {"paths": paths}, tf.data.TextLineDataset(paths)


def records_source(k):
    kind = rng.choice(["", "GZIP", "ZLIB"])
    path = os.path.join(folder, "records%d" % k)
    with v1.python_io.TFRecordWriter(path, kind) as writer:
        for i in range(rng.randint(0, 15)):
            writer.write(b"%d" % (i % 4) * rng.randint(0, 3))
    return {"path": path, "compression": kind}, tf.data.TFRecordDataset(path, kind)


def fixed_source(k):
    data = bytes(rng.choice(b"abcd") for _ in range(3 * rng.randint(0, 9) + 2))
    spec = {"path": path_of("fixed%d" % k, data)}
    return spec, tf.data.FixedLengthRecordDataset(spec["path"], 3, 2)


def csv_source(k):
    def field(word):
        return '"%s"' % word.replace('"', '""')

    ends = rng.choice(["\n", "\r\n"])
    text = "x,w,n" + ends
    for i in range(rng.randint(0, 15)):
        x = rng.choice(["", "%g" % (rng.randint(-99, 99) / 8), "1e3", " 2 "])
        text += ",".join([x, field(rng.choice(WORDS)), rng.choice(["", str(i), '"%d"' % i])]) + ends
    path = path_of("csv%d" % k, text.encode())
    defaults = [np.float32(-1), "none", np.int32(5)]
    dataset = tf.data.experimental.CsvDataset(
        path, [tf.constant(x) for x in defaults], header=True)
    return {"path": path}, dataset


def sample_source(_):
    spec = {"sizes": [rng.randint(1, 12) for _ in range(rng.randint(2, 3))],
            "weights": rng.choice([None, [0.2, 0.5, 0.3]]), "seed": rng.randint(0, 99)}
    if spec["weights"]:
        spec["weights"] = spec["weights"][:len(spec["sizes"])]
    parts = [tf.data.Dataset.range(100 * i, 100 * i + n) for i, n in enumerate(spec["sizes"])]
    return spec, tf.data.experimental.sample_from_datasets(parts, spec["weights"], spec["seed"])


SOURCES = {"range": range_source, "slices": slices_source, "rows": rows_source,
           "text": text_source, "records": records_source, "fixed": fixed_source,
           "csv": csv_source, "sample": sample_source}


# --- transformations

def first_of(types):
    return types[0] if isinstance(types, tuple) else types


def twice(dataset):
    def function(*element):
        more = tuple(x if x.dtype == tf.string else x * 2 + 1 for x in element)
        return more if len(more) > 1 else more[0]
    return dataset.map(function)


def some(dataset, least):
    def predicate(*element):
        x = element[0]
        if x.dtype == tf.string:
            return tf.reduce_any(tf.not_equal(x, "b"))
        return tf.reduce_max(tf.cast(x, tf.float32)) > least
    return dataset.filter(predicate)


def again(n):
    def function(*element):
        one = element if len(element) > 1 else element[0]
        return tf.data.Dataset.from_tensors(one).repeat(n)
    return function


# TRUE adds a prefetch after each step, so that TensorFlow does not fuse steps.
is_apart = False


def apart(dataset):
    return dataset.prefetch(1) if is_apart else dataset


def windows(dataset, size, shift, stride, drop):
    def batches(*parts):
        parts = tuple(part.batch(size) for part in parts)
        return parts[0] if len(parts) == 1 else tf.data.Dataset.zip(parts)
    return apart(dataset.window(size, shift, stride, drop).flat_map(batches))


def outside(number, dtype=tf.int64):
    """A tensor of the graph around the functions of datasets."""
    return v1.placeholder_with_default(tf.constant(number, dtype), [])


def shifted(dataset, by):
    """With a tensor from outside added to what is a number."""
    def function(*element):
        more = tuple(x if x.dtype == tf.string else x + tf.cast(by, x.dtype) for x in element)
        return more if len(more) > 1 else more[0]
    return dataset.map(function)


def nested(dataset, n, by):
    """Functions in functions, which use the element of the outer one and a tensor from outside."""
    def function(*element):
        return tf.data.Dataset.range(n).map(lambda y: element + (y * by,))
    return dataset.flat_map(function)


def random_step(dataset):
    """A description and the dataset behind the step; None where it does not fit."""
    few, more = rng.randint(1, 4), rng.randint(1, 20)
    drop, op_seed = rng.random() < 0.3, rng.randint(0, 99)
    spec = {"few": few, "more": more, "drop": drop, "seed": op_seed}
    if rng.random() < 0.3:  # numbers are tensors
        spec["tensors"] = True
        few, more = outside(few), outside(more)
    parts = v1.data.get_output_types(dataset)
    shapes = tf.nest.flatten(v1.data.get_output_shapes(dataset))
    is_flat = not isinstance(parts, tuple) or all(not isinstance(p, tuple) for p in parts)
    kind = rng.choice(["take", "skip", "repeat", "shard", "concatenate", "batch", "padded_batch",
                       "zip", "interleave", "window", "filter", "map", "flat_map", "shuffle",
                       "shuffle_and_repeat", "prefetch", "cache", "shifted", "nested"])
    spec["kind"] = kind
    if kind in ["zip", "interleave", "window", "filter", "map", "flat_map", "shifted",
                "nested"] and not is_flat:
        return None
    if kind == "shifted":
        return spec, apart(shifted(dataset, outside(spec["few"])))
    if kind == "nested":
        if isinstance(parts, tuple) and len(parts) > 2:
            return None
        return spec, nested(dataset, few, outside(spec["few"]))
    if kind == "take":
        return spec, dataset.take(more)
    if kind == "skip":
        return spec, dataset.skip(few)
    if kind == "repeat":
        return spec, dataset.repeat(few)
    if kind == "shard":
        return spec, dataset.shard(few, few - 1)
    if kind == "concatenate":
        return spec, dataset.concatenate(dataset.take(few))
    if kind == "batch":
        return spec, apart(dataset.batch(few, drop))
    if kind == "padded_batch":
        if any(shape.ndims is None for shape in shapes):
            return None
        shapes = v1.data.get_output_shapes(dataset)
        return spec, apart(dataset.padded_batch(few, shapes, drop_remainder=drop))
    if kind == "zip":
        if isinstance(parts, tuple):
            return None
        return spec, tf.data.Dataset.zip((dataset, dataset.skip(few)))
    if kind == "interleave":
        return spec, dataset.interleave(again(3), few, 1 + spec["more"] % 3)
    if kind == "window":
        shift, stride = 1 + spec["more"] % 4, 1 + spec["more"] % 2
        few = spec["few"]
        spec.update(shift=shift, stride=stride)
        return spec, windows(dataset, few, shift, stride, drop)
    if kind == "filter":
        return spec, some(dataset, tf.cast(few, tf.float32))
    if kind == "map":
        return spec, apart(twice(dataset))
    if kind == "flat_map":
        return spec, dataset.flat_map(again(few))
    if kind == "shuffle":
        return spec, dataset.shuffle(more, op_seed, not drop)
    if kind == "shuffle_and_repeat":
        return spec, dataset.apply(
            tf.data.experimental.shuffle_and_repeat(more, few, op_seed))
    if kind == "prefetch":
        return spec, dataset.prefetch(few)
    return spec, dataset.cache()


# --- results

def plain(component):
    array = np.asarray(component)
    values = array.ravel().tolist()
    if array.dtype.kind in "OS":
        values = [x.decode("latin1") for x in values]  # a character for each byte
    elif array.dtype.kind == "f":
        values = [x if np.isfinite(x) else str(x) for x in values]  # JSON has no word for these
    return {"shape": list(array.shape), "values": values}


def elements_of(dataset, goes_on):
    """At most LIMIT elements, each a list of components, and the first error; behind it, where it
    goes on, None in the place of each error."""
    iterator = v1.data.make_initializable_iterator(dataset)
    value = iterator.get_next()
    found, first = [], None
    with v1.Session() as session:
        try:
            session.run(iterator.initializer)
        except tf.errors.OpError as error:
            return found, error.message
        while len(found) < LIMIT and (goes_on or not first):
            try:
                found.append([plain(x) for x in tf.nest.flatten(session.run(value))])
            except tf.errors.OutOfRangeError:
                break
            except tf.errors.OpError as error:
                found.append(None)
                first = first or error.message
    return found, first


def random_pipeline(k):
    """With the errors that TensorFlow loses, and without those of what is left out (see above)."""
    global is_apart
    before = rng.getstate()
    plain_one = pipeline_of(k)
    steps = plain_one["steps"]
    leaves_out = any(one["kind"] in ["map", "shifted"] and other["kind"] == "batch" and other["drop"]
                     for one, other in zip(steps, steps[1:]))
    has_window = any(step["kind"] == "window" for step in steps)
    if not plain_one["error"] and not leaves_out and not has_window:
        return plain_one
    after = rng.getstate()
    rng.setstate(before)
    is_apart = True
    one = pipeline_of(k)
    is_apart = False
    assert rng.getstate() == after and one["steps"] == steps
    is_known = one["error"] or plain_one["error"] and leaves_out
    is_same = one["elements"] == plain_one["elements"]
    return plain_one if is_same or not is_known else dict(one, is_apart=True)


def pipeline_of(k):
    kind = rng.choice(list(SOURCES))
    graph_seed = rng.randint(0, 999)
    with tf.Graph().as_default():
        v1.set_random_seed(graph_seed)
        spec, dataset = SOURCES[kind](k)
        spec["kind"] = kind
        steps = []
        for _ in range(rng.randint(1, 6)):
            made = random_step(dataset)
            if made:
                steps.append(made[0])
                dataset = made[1]
        found, error = elements_of(dataset, True)
    return {"source": spec, "steps": steps, "graph_seed": graph_seed, "elements": found,
            "error": error}


# --- delimited text as CsvDataset reads it

INT, FLOAT, TEXT = tf.int32, tf.float32, tf.string
CSV = [
    (b"1,2\n3,4\n", [0, 0], {}),
    (b"1,2\n3,4", [0, 0], {}),
    (b"1,2\r\n3,4\r\n", [0, 0], {}),
    (b"1,2\r3,4\r", [0, 0], {}),
    (b"\xef\xbb\xbf1,2\n", [0, 0], {}),
    (b",\n1,\n,2\n", [7, 8], {}),
    (b",2\n", [INT, 0], {}),
    (b"1\n\n2\n", [0], {}),
    (b"1\n\n2\n", ["x"], {}),
    (b"\n", ["x"], {}),
    (b"", ["x"], {}),
    (b"1,2\n\n3,4\n", [0, 0], {}),
    (b"1,2\r\n\r\n3,4\n", [0, 0], {}),
    (b'"a","b"\n', ["", ""], {}),
    (b'"a,b","c\nd"\n', ["", ""], {}),
    (b'"a\r\nb",c\r\n', ["", ""], {}),
    (b'"a""b",""\n', ["", "x"], {}),
    (b'"""",""""""\n', ["", "x"], {}),
    (b'"",1\n', ["x", 0], {}),
    (b'"1","2.5"\n', [0, 0.0], {}),
    (b'a"b,c\n', ["", ""], {}),
    (b'a,"b"c\n', ["", ""], {}),
    (b'a,"b\n', ["", ""], {}),
    (b'a,"b', ["", ""], {}),
    (b'a,"b"', ["", ""], {}),
    (b'a"b,c"\n', ["", ""], {"use_quote_delim": False}),
    (b'"a,b"\n', ["", ""], {"use_quote_delim": False}),
    (b"1,2,3\n", [0, 0], {}),
    (b"1\n", [0, 0], {}),
    (b"1,\n", [0, 9], {}),
    (b"1;2\n", [0, 0], {"field_delim": ";"}),
    (b"1\t2\n", [0, 0], {"field_delim": "\t"}),
    (b"NA,2\n3,NA\n", [7, 8], {"na_value": "NA"}),
    (b'"NA",2\n', [7, 8], {"na_value": "NA"}),
    (b"NA,\n", ["x", "y"], {"na_value": "NA"}),
    (b"x,y\n1,2\n", [0, 0], {"header": True}),
    (b"x,y\r\n1,2\r\n", [0, 0], {"header": True}),
    (b'"x\ny",z\n1,2\n', [0, 0], {"header": True}),
    (b"\nx,y\n1,2\n", [0, 0], {"header": True}),
    (b"1,2,3\n4,5,6\n", [0, 0], {"select_cols": [0, 2]}),
    (b"1,2,3\n4,5\n6,7,8,9\n", [0, 0], {"select_cols": [0, 1]}),
    (b"1,2,3\n4\n", [0], {"select_cols": [1]}),
    (b'1,"a,b",3\n', [0], {"select_cols": [2]}),
    (b" 1 , 2.5\n", [0, 0.0], {}),
    (b" a , b\n", ["", ""], {}),
    (b"+1,-2\n", [0, 0], {}),
    (b"1e2,-1.5E-3\n", [0.0, 0.0], {}),
    (b"inf,nan\n", [0.0, 0.0], {}),
    (b"1.5,2\n", [0, 0], {}),
    (b"2147483647,-2147483647\n", [0, 0], {}),  # -2^31 is R's NA
    (b"2147483648,1\n", [0, 0], {}),
    (b"0.1,16777217\n", [0.0, 0.0], {}),
    (b"abc,1\n", [0.0, 0], {}),
    (b"0x10,1\n", [0, 0], {}),
    (b"1e400,-1e400\n", [0.0, 0.0], {}),
    (b"1e-50,1e39\n", [0.0, 0.0], {}),
    (b"a,b\nc,d\ne", ["", ""], {}),
    (b"a,b\n\"c\",\"d\"", ["", ""], {}),
    (b"a,b\r", ["", ""], {}),
    (b"\xc3\xa4,\xe2\x82\xac\n", ["", ""], {}),
]


def default_of(x):
    return x if isinstance(x, tf.DType) else tf.constant(
        x, tf.int32 if isinstance(x, int) else tf.float32 if isinstance(x, float) else tf.string)


def csv_case(k):
    data, defaults, options = CSV[k]
    path = path_of("case%d.csv" % k, data)
    with tf.Graph().as_default():
        dataset = tf.data.experimental.CsvDataset(path, [default_of(x) for x in defaults], **options)
        found, error = elements_of(dataset, False)
    types = [x.name if isinstance(x, tf.DType) else type(x).__name__ for x in defaults]
    defaults = [None if isinstance(x, tf.DType) else x for x in defaults]
    return {"path": path, "text": data.decode("latin1"), "types": types, "defaults": defaults,
            "options": options, "elements": found, "error": error}


def readable_pipeline(k):
    """TensorFlow cannot read a cache in two places at once; here each place has its own. 2.15 takes
    batches of samples for scalars when something is concatenated to them, and refuses its own dataset where
    the iterator begins; 1.15 gives elements."""
    while True:
        pipeline = random_pipeline(k)
        error = pipeline["error"] or ""
        takes_for_scalars = "Incompatible shapes at component" in error and "MakeIterator" in error
        if not takes_for_scalars and not error.startswith("Cache should only be read after"):
            return pipeline


pipelines = [readable_pipeline(k) for k in range(count)]
cases = [csv_case(k) for k in range(len(CSV))]
with open(os.path.join(folder, "pipelines.json"), "w") as file:
    json.dump({"seed": seed, "pipelines": pipelines, "csv": cases}, file)
