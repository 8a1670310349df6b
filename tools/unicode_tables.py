"""Writes src/base/unicode_tables.cpp from Unicode's files: python3 tools/unicode_tables.py <folder>

The folder has UnicodeData.txt, Scripts.txt and CaseFolding.txt (Debian's package unicode-data:
/usr/share/unicode). src/base/unicode.cpp reads what is written here.
"""

import os
import re
import sys

DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_"


def number(n):
    text = ""
    while True:
        n, digit = divmod(n, 32)
        if n == 0:
            return text + DIGITS[digit]
        text += DIGITS[digit + 32]


def ranges_of(runes):
    ranges = []
    for rune in sorted(runes):
        if ranges and rune == ranges[-1][1] + 1:
            ranges[-1][1] = rune
        else:
            ranges.append([rune, rune])
    return ranges


def encoded(runes):
    text, last = "", 0
    for low, high in ranges_of(runes):
        text += number(low - last) + number(high - low)
        last = high
    return text


def categories(folder):
    found, first = {}, None
    for line in open(os.path.join(folder, "UnicodeData.txt"), encoding="utf-8"):
        fields = line.split(";")
        rune, name, category = int(fields[0], 16), fields[1], fields[2]
        if name.endswith(", First>"):
            first = rune
            continue
        low = first if name.endswith(", Last>") else rune
        first = None
        found.setdefault(category, set()).update(range(low, rune + 1))
    return found


def scripts(folder):
    found = {}
    for line in open(os.path.join(folder, "Scripts.txt"), encoding="utf-8"):
        match = re.match(r"([0-9A-F]+)(?:\.\.([0-9A-F]+))?\s*;\s*(\w+)", line)
        if match:
            low = int(match[1], 16)
            high = int(match[2] or match[1], 16)
            found.setdefault(match[3], set()).update(range(low, high + 1))
    return found


def folds(folder):
    pairs = []
    for line in open(os.path.join(folder, "CaseFolding.txt"), encoding="utf-8"):
        match = re.match(r"([0-9A-F]+); ([CS]); ([0-9A-F]+);", line)
        if match:
            pairs.append((int(match[1], 16), int(match[3], 16)))
    pairs.sort()
    # runs of one step, 1 or 2, to letters as far away
    runs = []
    for rune, to in pairs:
        by = to - rune
        if runs and runs[-1]["by"] == by:
            run = runs[-1]
            step = rune - run["last"]
            if step <= 2 and run["step"] in (None, step):
                run.update(last=rune, step=step, more=run["more"] + 1)
                continue
        runs.append({"first": rune, "last": rune, "more": 0, "step": None, "by": by})
    text, last = "", 0
    for run in runs:
        by = 2 * run["by"] if run["by"] >= 0 else -2 * run["by"] + 1
        text += number(run["first"] - last) + number(run["more"]) + number(run["step"] or 1)
        text += number(by)
        last = run["last"]
    return text


def literal(text, indent):
    width = 96 - len(indent)
    pieces = [text[i : i + width] for i in range(0, len(text), width)] or [""]
    return "\n".join('%s"%s"' % (indent, piece) for piece in pieces)


def main():
    folder = sys.argv[1]
    classes = categories(folder)
    classes.update(scripts(folder))
    lines = [
        "// Written by tools/unicode_tables.py from Unicode 15.0; do not edit.",
        '#include "base/unicode.h"',
        "",
        "namespace runhooks {",
        "",
        "const UnicodeClass kUnicodeClasses[] = {",
    ]
    for name in sorted(classes):
        text = encoded(classes[name])
        line = '    {"%s", "%s"},' % (name, text)
        if len(line) <= 100:
            lines.append(line)
        else:
            lines += ['    {"%s",' % name, literal(text, "     ") + "},"]
    lines += [
        "};",
        "const int kUnicodeClassCount = %d;" % len(classes),
        "",
        "const char* const kCaseFolds =",
        literal(folds(folder), "    ") + ";",
        "",
        "}  // namespace runhooks",
        "",
    ]
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    with open(os.path.join(root, "src/base/unicode_tables.cpp"), "w") as out:
        out.write("\n".join(lines))


main()
