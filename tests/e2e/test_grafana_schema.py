#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The dashboards of ebpf-dashboards have the types that Grafana publishes, and no member that these do not have. Each kind of
member is then misspelt once, which must be an error.

The types are those of Grafana's packages at npm, see grafana/types.ts; TypeScript's compiler compares.
"""

import copy
import glob
import json
import os
import re
import shutil
import subprocess
import tarfile

from e2e import TOP, Check, Skip

GRAFANA = "13.2.3"
PACKAGES = "typescript@5.9.3", *(f"@grafana/{name}@{GRAFANA}" for name in ("schema", "data", "prometheus"))
OPTIONS = "--noEmit --strict --skipLibCheck --module esnext --moduleResolution bundler --target es2022".split()
TYPES = os.path.join(TOP, "tests", "e2e", "grafana", "types.ts")
STORES = "prometheus", "graphite", "influxdb"
# Records of transformations, whose members are names of fields.
BY_NAME = "excludeByName", "fields", "includeByName", "indexByName", "renameByName"


def fetch(directory):
    """Unpacks the packages, without those that they depend on, into directory/node_modules."""
    if not shutil.which("npm"):
        raise Skip("npm is not installed")
    packed = subprocess.run(["npm", "pack", "--json", "--pack-destination", directory, *PACKAGES], capture_output=True,
                            text=True, check=False, timeout=300, env={**os.environ, "HOME": directory})
    if packed.returncode:
        raise Skip("npm cannot fetch Grafana's types: " + (packed.stderr.strip().splitlines() or ["no reason given"])[-1])
    for package in json.loads(packed.stdout):
        unpack(os.path.join(directory, package["filename"].replace("@", "").replace("/", "-")),
               os.path.join(directory, "node_modules", package["name"]))


def unpack(archive, target):
    """A package is a folder in an archive; its name varies."""
    with tarfile.open(archive) as files:
        files.extractall(archive + ".d")
    folder, = os.listdir(archive + ".d")
    os.makedirs(os.path.dirname(target), exist_ok=True)
    os.rename(os.path.join(archive + ".d", folder), target)


def compile_all(directory, dashboards):
    """dashboards: {name: (store, dashboard)}. Returns {name: errors}."""
    for name, (store, dashboard) in dashboards.items():
        with open(os.path.join(directory, name + ".ts"), "w", encoding="utf-8") as file:
            file.write(f'import type {{ {store} }} from "./types";\n'
                       f"export const dashboard: {store} = {json.dumps(dashboard, indent=1)};\n")
    # A list of files may be longer than a command line.
    with open(os.path.join(directory, "files"), "w", encoding="utf-8") as files:
        files.writelines(f"{name}.ts\n" for name in dashboards)
    said = subprocess.run(["node", "node_modules/typescript/bin/tsc", *OPTIONS, "@files"], cwd=directory, capture_output=True,
                          text=True, check=False, timeout=600).stdout
    errors = {name: [] for name in dashboards}
    # Without a file, the compiler itself has failed.
    for name, error in re.findall(r"^(?:(\w+)\.ts)?((?:\([\d,]+\): )?error .*)$", said, re.M):
        errors.setdefault(name or "tsc", []).append(error)
    return errors


def members(value, path=()):
    """The paths of all members of objects, from the outside."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield *path, name
            yield from members(inner, (*path, name))
    elif isinstance(value, list):
        for position, inner in enumerate(value):
            yield from members(inner, (*path, position))


def kind_of(path, dashboard):
    """A path without its positions: panels of one type are alike."""
    panel = dashboard["panels"][path[1]]["type"] if path[0] == "panels" and len(path) > 1 else ""
    return panel, *(name for name in path if isinstance(name, str))


def misspell(dashboard, path):
    broken = copy.deepcopy(dashboard)
    inner = broken
    for name in path[:-1]:
        inner = inner[name]
    inner[path[-1] + "x"] = inner.pop(path[-1])
    return broken


def of_kinds(dashboards):
    """(store, a dashboard with one panel at most, path) of each kind of member of a store's dashboards."""
    seen = set()
    for store, dashboard in dashboards:
        for path in members(dashboard):
            kind = store, kind_of(path, dashboard)
            if kind in seen or path[-2:-1] and path[-2] in BY_NAME:
                continue
            seen.add(kind)
            numbers = path[1:2] if path[0] == "panels" else ()
            small = {**dashboard, "panels": [dashboard["panels"][position] for position in numbers]}
            yield store, small, ("panels", 0, *path[2:]) if numbers else path


def load(directory):
    """{name: (store, dashboard)} of all that ebpf-dashboards writes."""
    output = os.path.join(directory, "dashboards")
    subprocess.run([os.path.join(TOP, "contrib", "ebpf-dashboards"), output], check=True, timeout=60)
    found = {}
    for store in STORES:
        for path in sorted(glob.glob(os.path.join(output, "grafana", store, "*.json"))):
            with open(path, encoding="utf-8") as file:
                found[f"{store}_{os.path.basename(path)[:-5]}"] = store, json.load(file)
    return found


def main():
    with Check() as check:
        fetch(check.dir)
        shutil.copy(TYPES, check.dir)
        dashboards = load(check.dir)
        check.equal("stores with dashboards", {store for store, _ in dashboards.values()}, set(STORES))
        for name, errors in compile_all(check.dir, dashboards).items():
            check.equal(f"{name}: errors", errors[:5], [])
        broken = {f"fault{number}": fault for number, fault in enumerate(of_kinds(dashboards.values()))}
        errors = compile_all(check.dir, {name: (store, misspell(small, path)) for name, (store, small, path) in broken.items()})
        missed = [f"{store}: {path}" for name, (store, _, path) in broken.items() if not errors[name]]
        check.equal(f"misspelt members, of {len(broken)} kinds, that are no error", missed, [])


if __name__ == "__main__":
    main()
