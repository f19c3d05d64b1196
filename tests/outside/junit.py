#!/usr/bin/env python3
"""Checks with another reader that `cuvee test --format junit` writes what such files are made of: junit.py CUVEE DIR...

Reads the XML with junitparser (`pip install junitparser`), which knows suites, cases and outcomes, and compares it with `--format json`.
`junit.py target/debug/cuvee examples tests/conformance` finds all cases in both.
"""

import json
import subprocess
import sys

from junitparser import Failure, JUnitXml, Skipped


def outcomes(text):
    report = JUnitXml.fromstring(text)
    found = {}
    for suite in report:
        cases = list(suite)
        counted = [sum(any(isinstance(one, kind) for one in case.result) for case in cases) for kind in (Failure, Skipped)]
        assert [suite.tests, suite.failures, suite.skipped, suite.errors] == [len(cases), *counted, 0], suite.name
        for case in cases:
            kinds = [type(one).__name__.lower() for one in case.result]
            found[f"{case.classname}/{case.name}"] = kinds[0] if kinds else "passed"
    assert report.tests == len(found), "a suite is not counted"
    return found


def main(cuvee, *dirs):
    written = lambda form: subprocess.run([cuvee, "test", *dirs, "--format", form], capture_output=True).stdout
    report = json.loads(written("json"))
    expected = {case["path"]: "passed" if case["passed"] else "failure" for case in report["cases"]}
    expected |= {path: "skipped" for path in report["skipped"]}
    found = outcomes(written("junit"))
    assert found == expected, set(found.items()) ^ set(expected.items())
    print(f"{len(found)} cases, the same in both")


if __name__ == "__main__":
    main(*sys.argv[1:])
