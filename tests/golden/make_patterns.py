"""Matches and replacements of random regular expressions in TensorFlow (RE2): golden/patterns.tsv.

python3 tests/golden/make_patterns.py [count] [seed] > tests/testthat/golden/patterns.tsv

A line is a pattern and RE2's error, or a pattern, a text, whether it matches completely, and the text with
the first and with every match replaced by `<whole|group 1|group 2>` (for existing groups).
Texts in which `\\B` splits a multi-byte character are left out.
Bytes other than printable ASCII, and the percent sign, are written as %41. Needs TensorFlow 2.
"""

import os
import random
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf  # noqa: E402

LETTERS = ["a", "b", "c", "A", "B", "_", "1", " ", "\n", "-", "é", "É", "ß", "λ", "Λ", "字", "k"]
ESCAPES = [r"\d", r"\D", r"\s", r"\S", r"\w", r"\W", r"\pL", r"\p{Lu}", r"\P{Greek}", r"\p{^N}", r"\.",
           r"\n", r"\x61", r"\x{3bb}", r"\101", r"\Qa.\E", r"\-"]
PLACES = ["^", "$", r"\b", r"\B", r"\A", r"\z"]
REPEATS = ["*", "+", "?", "*?", "+?", "??", "{2}", "{0,2}", "{1,}", "{,3}", "{2,3}?", "{0}"]
NOISE = list("ab^$*+?()[]{}|\\.-:,<>12P=!isdbE") + ["[:alpha:]", "(?i", "é"]


def some_set():
    members = []
    for _ in range(random.randint(1, 3)):
        kind = random.random()
        if kind < 0.5:
            members.append(random.choice(["a", "b", "c", "é", "λ", "-", "^", "]", "1"]))
        elif kind < 0.75:
            members.append(random.choice(["a-c", "A-Z", "b-λ", "0-9", "k-z"]))
        else:
            members.append(random.choice(["[:alpha:]", "[:^digit:]", "[:space:]", r"\d", r"\W", r"\pL", r"\n"]))
    return "[" + random.choice(["", "", "^"]) + "".join(members) + "]"


def some_pattern(depth):
    parts = []
    for _ in range(random.randint(0 if depth < 3 else 1, 3)):
        kind = random.random()
        if kind < 0.4:
            part = random.choice(["a", "b", "c", "ab", "é", "λ", "k", "1", " ", "字"])
        elif kind < 0.5:
            part = random.choice(ESCAPES)
        elif kind < 0.58:
            part = some_set()
        elif kind < 0.64:
            part = "."
        elif kind < 0.7:
            part = random.choice(PLACES)
        elif depth > 0:
            opened = random.choice(["(", "(", "(", "(?:", "(?P<n%d>" % random.randint(0, 10**6), "(?i:", "(?s-m:", "(?m:",
                                    "(?U:"])
            part = opened + some_pattern(depth - 1) + ")"
        else:
            part = "b"
        if random.random() < 0.35:
            part += random.choice(REPEATS)
        parts.append(part)
    text = "".join(parts)
    if random.random() < 0.2:
        text += "|" + some_pattern(max(depth - 1, 0))
    if random.random() < 0.05:
        text = random.choice(["(?i)", "(?s)", "(?m)", "(?U)", "(?im)"]) + text
    return text


def some_text():
    text = "".join(random.choice(LETTERS) for _ in range(random.randint(0, 8))).encode()
    if random.random() < 0.05:
        text += random.choice([b"\xff", b"\xc3", b"\xe5\xad"]) + b"a"
    return text


def written(data):
    return "".join(chr(b) if 32 <= b < 127 and b != 37 else "%%%02X" % b for b in data)


def is_utf8(data):
    try:
        data.decode()
        return True
    except UnicodeDecodeError:
        return False


def lines_of(pattern):
    shown = written(pattern.encode())
    try:
        tf.strings.regex_full_match([""], pattern)
    except tf.errors.InvalidArgumentError as error:
        message = error.message
        start = message.index(", error: ") + len(", error: ")
        message = message[start:].split(" [Op:")[0].rsplit("}}", 1)[0]
        return ["%s\t%s" % (shown, written(message.encode()))]
    texts = [some_text() for _ in range(3)]
    # A rewrite with too many groups does not change the text.
    rewrite = None
    for candidate in (r"<\0|\1|\2>", r"<\0|\1>", r"<\0>"):
        if any("<" in t for t in map(str, texts)):
            raise ValueError("texts are without <")
        probe = tf.strings.regex_replace(["a", "b"] + texts, "(?:" + pattern + ")|(?s:.)|", candidate)
        if all(b"<" in x for x in probe.numpy()):
            rewrite = candidate
            break
    full = tf.strings.regex_full_match(texts, pattern).numpy()
    first = tf.strings.regex_replace(texts, pattern, rewrite, replace_global=False).numpy()
    every = tf.strings.regex_replace(texts, pattern, rewrite).numpy()
    return [
        "\t".join([shown, written(texts[i]), "TRUE" if full[i] else "FALSE", written(first[i]), written(every[i])])
        for i in range(len(texts))
        # RE2's \B matches within a multi-byte character and splits it.
        if is_utf8(every[i]) or not is_utf8(texts[i])
    ]


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 800
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    random.seed(seed)
    for i in range(count):
        if i % 8 == 7:
            pattern = "".join(random.choice(NOISE) for _ in range(random.randint(1, 7)))
        else:
            pattern = some_pattern(3)
        for line in lines_of(pattern):
            print(line)


main()
