# SPDX-License-Identifier: MIT
"""The rows of the examples: how many are on and say what their maps hold."""

import rows


def kernel_lacks(one):
    """Whether the plugin says so; a section that libbpf does not know is not the kernel's."""
    return any(("the running kernel lacks" in text or "the kernel's build" in text or "verifier rejects" in text)
               and "missing BPF prog type" not in text for text in one.get("why", []))


def add_count(what, got, count, wanted, which):
    rows.add(what, f"{got} of {count}", f"{wanted}: {which}", rows.judge(got >= wanted))


def add_converted(found):
    count = sum(one["state"] != "not converted" for one in found)
    add_count("examples converted", count, len(found), sum(one["metrics"] for one in found), "all that have counters or histograms")


def add_kernel(kernel, found):
    converted = [one for one in found if one["state"] != "not converted"]
    working = [one for one in converted if one["state"] != "off"]
    add_count(f"{kernel}: examples that are on", len(working), len(found), sum(not kernel_lacks(one) for one in converted),
              "all that are converted and that this kernel has hooks for")
    counted = [one for one in working if one["state"] != "nothing happened"]
    add_count(f"{kernel}: examples of which all series equal the maps", sum(one["state"] == "equal" for one in counted),
              len(found), len(counted), "all that are on and counted something")
    equal = sum(one["equal"] for one in counted)
    compared = equal + sum(one["different"] for one in counted)
    add_count(f"{kernel}: series that equal the maps", equal, compared, compared, "all")
    for one in counted:
        if one["state"] == "differs":
            rows.add(f"{kernel}: {one['name']}", one["wrong"][0], "equal", rows.judge(False))


def add(results):
    """results: {kernel: [the result of each example]}"""
    add_converted(next(iter(results.values())))
    for kernel, found in results.items():
        add_kernel(f"Linux {kernel}", found)
