# SPDX-License-Identifier: MIT
"""Queries of dashboards for Graphite 1.1, where a series is collectd.HOST.ebpf.SUBJECT.TYPE[.INSTANCE][.SOURCE]. The source
is there if the type has several. A dot within a part is an underscore. Counters are stored as they are."""

from dashboard_store import DashboardStore, variable
from query import EACH, HOSTS, NUMBER, PRESENT, PROCESS, SERVICE, SOURCES, alternatives, escaped, excluded_subjects

NODES = {"host": 1, "service": 3, "key": 5}

# Over so many steps without a value a counter keeps its growth and a sum its terms: five minutes of 10 s, as in RRD files.
GAP = 30


def _node(text):
    return text.replace(".", "_")


def _call(function, *arguments):
    return f"{function}({','.join(map(str, arguments))})"


def _quoted(text):
    return f'"{text}"'


class GraphiteStore(DashboardStore):
    name = "Graphite"
    datasource = "graphite"

    def query(self, target):
        return {"target": self._named(self._computed(self._selected(target), target), target), "textEditor": True}

    @staticmethod
    def _selected(target):
        """The series of a target as they are stored."""
        subject = target.subject if target.subject in (SERVICE, EACH) else _node(target.subject)
        source = "" if _is_single(target.kind) else target.source
        parts = ["collectd", HOSTS, "ebpf", subject, target.kind, _node(target.instance), source]
        found = ".".join(part for part in parts if part)
        if subject == EACH:
            found = _call("exclude", found, _quoted(rf"\.ebpf\.({excluded_subjects(target, '[^.]*')})\."))
        if target.only or target.is_percentile:
            admitted = alternatives(map(_node, target.only)) or _node(NUMBER)
            found = _call("grep", found, _quoted(_with_key(target, admitted)))
        if target.without_keys:
            found = _call("exclude", found, _quoted(_with_key(target, alternatives(map(_node, target.without_keys)))))
        return found

    @staticmethod
    def _computed(found, target):
        if target.counted or target.by:
            found = _call("interpolate", found, GAP)
        if target.counted:
            found = _call("perSecond", found)
        if target.scale != 1:
            found = _call("scale", found, f"{target.scale:g}")
        return _call("groupByNodes", found, _quoted(target.how), *(NODES[one] for one in target.by)) if target.by else found

    @staticmethod
    def _named(found, target):
        """With the label of the curve as its name."""
        if "*" not in target.label:
            return _call("alias", found, _quoted(target.label))
        if not target.by:
            found = _call("aliasByNode", found, *(NODES[one] for one in target.varies))
        text = " ".join(rf"\{number}" for number, _ in enumerate(target.varies, 1))
        search = r"\.".join(_captured(target) if one == "key" else "([^.]*)" for one in target.varies)
        if (search, target.label) not in (("([^.]*)", "*"), ("(.*)", "*")):
            found = _call("aliasSub", found, _quoted(f"^{search}$"), _quoted(target.label.replace("*", text)))
        if target.is_percentile and "key" in target.varies:
            found = _call("aliasSub", found, _quoted("([0-9])_([0-9])"), _quoted(r"\1.\2"))
        return found

    @staticmethod
    def variables():
        """Graphite returns the last nodes, or whole paths. Of these, the second takes the service."""
        service = rf"/^collectd\.[^.]+\.ebpf\.(?![^.]*{PROCESS}\.)([^.]+)\.{PRESENT}$/"
        return [variable("host", "collectd.*", several="*"),
                variable("service", f"expand(collectd.{HOSTS}.ebpf.*.{PRESENT})", service)]


def _is_single(kind):
    """Whether the type has one data source, which paths do not name."""
    return len(SOURCES.get(kind, ("value",))) == 1


def _captured(target):
    before, _, after = map(escaped, _node(target.instance).partition("*"))
    return f"{before}(.*){after}"


def _with_key(target, key):
    """A regular expression of paths whose instance has this for the `*`. key: a regular expression"""
    before, _, after = map(escaped, _node(target.instance).partition("*"))
    return rf"\.{before}({key}){after}" + ("$" if _is_single(target.kind) else r"\.[^.]*$")
