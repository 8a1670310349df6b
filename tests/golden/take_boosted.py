"""Copies the cases of boosted trees from the shared goldens to tests/testthat/golden/boosted: CASE.json,
the case with expected results, and CASE.ensemble, the trees that TensorFlow wrote.

  python3 tests/golden/take_boosted.py [../shared/golden]
"""
import base64, collections, glob, json, os, sys

source = (sys.argv[1] if len(sys.argv) > 1 else "../shared/golden") + "/boosted"
target = "tests/testthat/golden/boosted"
ordered = collections.OrderedDict
os.makedirs(target, exist_ok=True)
for path in sorted(glob.glob(source + "/*/expected.json")):
    name = os.path.basename(os.path.dirname(path))
    case = json.load(open(source + "/" + name + "/case.json"), object_pairs_hook=ordered)
    expected = json.load(open(path), object_pairs_hook=ordered)
    trees = expected["boosted_trees"].pop("ensemble")
    expected["boosted_trees"]["stamp"] = trees["stamp"]
    for values in expected["variables"].values():
        for variable in [v for v in values if "base64" in values[v]]:
            del values[variable]
    with open(target + "/" + name + ".ensemble", "wb") as out:
        out.write(base64.b64decode(trees["serialized_base64"]))
    with open(target + "/" + name + ".json", "w") as out:
        json.dump(ordered(case=case, expected=expected), out, indent=0, separators=(",", ":"))
