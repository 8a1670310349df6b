"""A checkpoint of real TensorFlow 1.15 with three data files, and the training that continues it:
python3.7 tests/golden/make_sharded.py tests/testthat/golden/sharded

A sharded saver writes a file per device; the partitions of a variable, and its slots, are in different
files. Data are sin(k * pace), which both sides can compute.
"""
import json
import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

tf.logging.set_verbosity(tf.logging.ERROR)
DEVICES, STEPS = 3, 3
folder = sys.argv[1]


def waves(shape, pace):
    return np.sin(pace * np.arange(1, np.prod(shape) + 1)).reshape(shape).astype(np.float32)


def device_of(op):
    """The parts of what is cut go round, the rest by name."""
    name = op.name
    if "part_" in name:
        return "/cpu:%d" % (int(name.split("part_")[1][0]) % DEVICES)
    return "/cpu:%d" % {"table": 1, "b": 2}.get(name.split("/")[0], 0)


def part_of_wide(shape, dtype=None, partition_info=None):
    start = partition_info.var_offset[0]
    return tf.constant(waves((7, 2), 0.3)[start:start + shape[0]])


with tf.Graph().as_default():
    with tf.device(device_of):
        step = tf.train.get_or_create_global_step()
        with tf.variable_scope("", partitioner=tf.fixed_size_partitioner(3)):
            wide = tf.layers.dense(tf.constant(waves((6, 7), 0.9)), 2, use_bias=False, name="wide",
                                   kernel_initializer=part_of_wide)
        table = tf.get_variable("table", initializer=waves((5, 2), 0.7))
        b = tf.get_variable("b", initializer=waves((2,), 1.1))
        words = tf.get_variable("words", initializer=tf.constant(["a", "", "long " * 20]),
                                trainable=False)
    y, ids = waves((6,), 1.7), np.array([0, 3, 3, 1, 4, 0])
    net = wide + tf.gather(table, ids) + b
    loss = tf.reduce_mean(tf.square(tf.reduce_sum(tf.tanh(net), 1) - y))
    with tf.device(device_of):
        train = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss, global_step=step)
    saver = tf.train.Saver(sharded=True)
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": DEVICES})) as session:
        session.run(tf.global_variables_initializer())
        losses = [float(session.run([loss, train])[0]) for _ in range(STEPS)]
        saver.save(session, os.path.join(folder, "model.ckpt"), global_step=step,
                   write_meta_graph=False)
        names = sorted(name for name, _ in tf.train.list_variables(folder) if name != "words")
        values = {name: tf.train.load_variable(folder, name).ravel().tolist() for name in names}
        losses += [float(session.run([loss, train])[0]) for _ in range(STEPS)]
        end = {v.op.name: v.eval().ravel().tolist() for v in tf.trainable_variables()}

with open(os.path.join(folder, "checkpoint"), "w") as file:
    # Relative paths, independent of the machine's folders.
    file.write('model_checkpoint_path: "model.ckpt-%d"\nall_model_checkpoint_paths: "model.ckpt-%d"\n'
               % (STEPS, STEPS))
with open(os.path.join(folder, "sharded.json"), "w") as file:
    json.dump({"losses": losses, "values": values, "end": end}, file)
