#!/usr/bin/env python3
"""Saves and restores 200 MB of variables in TensorFlow: python3 bench/checkpoint_tf.py <folder>

Called by bench/checkpoint.R, which does the same with this package.
"""
import os
import resource
import sys
import tempfile
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf

tf1 = tf.compat.v1
tf1.disable_v2_behavior()
tf1.logging.set_verbosity("ERROR")


def seconds(run):
    before, start = resource.getrusage(resource.RUSAGE_SELF), time.time()
    run()
    took, after = time.time() - start, resource.getrusage(resource.RUSAGE_SELF)
    return took, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


for i in range(10):
    tf1.get_variable("v%d" % i, shape=[1000, 5000], initializer=tf1.random_normal_initializer())
saver = tf1.train.Saver()
threads = tf1.ConfigProto(intra_op_parallelism_threads=2, inter_op_parallelism_threads=2)
rounds = {"save": [], "restore": []}
with tf1.Session(config=threads) as session:
    session.run(tf1.global_variables_initializer())
    for _ in range(5):
        prefix = os.path.join(tempfile.mkdtemp(dir=sys.argv[1]), "model")
        rounds["save"].append(seconds(lambda: saver.save(session, prefix, write_meta_graph=False)))
        rounds["restore"].append(seconds(lambda: saver.restore(session, prefix)))
        os.remove(prefix + ".data-00000-of-00001")
for what, took in rounds.items():
    name = "TensorFlow %s: %s" % (tf.__version__, what)
    print("%-28s %6.3f (%.3f)" % (name, min(t[0] for t in took), min(t[1] for t in took)))
