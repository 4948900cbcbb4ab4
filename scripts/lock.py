"""Write a constraints file from pip's reports: lock.py FILE REPORT..., the oldest Python first."""

import json
import re
import sys
from itertools import groupby
from pathlib import Path

HEADER = "# The versions that the scripts install. Do not edit: scripts/lock renews this file.\n"


def main(path: str, *reports: str) -> None:
    resolved = {}  # {Python: {package: version}}
    for report in reports:
        content = json.loads(Path(report).read_text("utf-8"))
        resolved[content["environment"]["python_version"]] = dict(map(_package, content["install"]))
    packages = sorted(set().union(*resolved.values()) - {"gradtape"})
    lines = [line for package in packages for line in _lines(package, resolved)]
    Path(path).write_text(HEADER + "\n".join(lines) + "\n", "utf-8")


def _package(installed: dict) -> tuple[str, str]:
    metadata = installed["metadata"]
    return re.sub(r"[-_.]+", "-", metadata["name"]).lower(), metadata["version"]


def _lines(package: str, resolved: dict) -> list[str]:
    """`package==version`, with a marker where the Pythons have different versions.

    The newest version holds for later Pythons too.
    """
    pythons = [python for python in resolved if package in resolved[python]]
    runs = [
        (version, list(run)) for version, run in groupby(pythons, lambda p: resolved[p][package])
    ]
    lines = []
    for i, (version, run) in enumerate(runs):
        bounds = [f'python_version >= "{run[0]}"'] if i else []
        if i + 1 < len(runs):
            bounds.append(f'python_version < "{runs[i + 1][1][0]}"')
        lines.append(f"{package}=={version}" + (f" ; {' and '.join(bounds)}" if bounds else ""))
    return lines


if __name__ == "__main__":
    main(*sys.argv[1:])
