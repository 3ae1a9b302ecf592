# SPDX-License-Identifier: MIT
"""Dashboards as Grafana's JSON, for Grafana 10 and later."""

import string

from definitions import BLUE
from grafana_table import columns, limited, table_steps

SCHEMA = 39
WIDTH = 24              # of a page, in columns
HEIGHT = 8              # of a panel, in rows of 30 pixels
WIDE, NARROW = 12, 8    # a stack of parts or a table; any other panel
CONNECTED = 60000       # milliseconds without a value over which a line goes on
RECENT = "5m"           # a table has no older values
# How a curve is drawn; otherwise it is a line.
LINE = {"lineWidth": 1, "fillOpacity": 0, "stacking": {"mode": "none", "group": "A"}}
STACK = {"lineWidth": 0, "fillOpacity": 75, "stacking": {"mode": "normal", "group": "A"}}
STACKED = ("stack", "cap")
STYLES = {
    "dashes": {"custom.lineStyle": {"fill": "dash", "dash": [8, 6]}},
    "dotted": {"custom.lineStyle": {"fill": "dot", "dash": [2, 4]}},
    "area": {"custom.fillOpacity": 25},
    "figures": {"custom.hideFrom": {"viz": True, "legend": False, "tooltip": False}}}
STYLES["samples"] = {**STYLES["figures"], "unit": "none"}
# Members of a variable that are the store's.
VARIABLE = ("name", "label", "type", "query", "regex", "refresh", "sort")
# The dashboard of what a cell names, and the text of the link.
LINKED = {"service": ("ebpf-service", "This service"), "host": ("ebpf-machine", "This machine")}
# What Grafana writes after each figure, so that the axis need not say it.
SELF_EXPLAINED = ("s", "bytes", "binBps", "hertz")


def unit_id(unit):
    """Grafana's id of a unit."""
    if unit.exponent:
        return "sci"
    if unit.symbol:
        return {"s": "s", "B": "bytes", "B/s": "binBps", "%": "percent"}[unit.symbol]
    if unit.name.startswith("percent"):
        return "percent"
    if unit.name.endswith("per second"):
        return "count:/s"
    return "hertz" if unit.name == "hertz" else "none" if unit.whole else "short"


def reference(index):
    """The refId of a query: A to Z, then AA."""
    letters = string.ascii_uppercase
    return letters[index] if index < len(letters) else reference(index // len(letters) - 1) + letters[index % len(letters)]


def source_of(store):
    return {"type": store.datasource, "uid": "${datasource}"}


def uid_of(uid, store):
    return f"{uid}-{store.datasource}"


def override(matcher, value, properties):
    return {"matcher": {"id": matcher, "options": value},
            "properties": [{"id": name, "value": properties[name]} for name in sorted(properties)]}


def _properties(series, kind):
    """How the curves of a series differ from the others of a panel of this kind."""
    found = {f"custom.{name}": value for name, value in LINE.items()} if kind == "stack" and series.draw not in STACKED else {}
    found.update(STYLES.get(series.draw, {}))
    if series.color:
        found["color"] = {"mode": "fixed", "fixedColor": series.color}
    elif series.file.endswith("-percentile-*"):
        found["color"] = {"mode": "shades", "fixedColor": BLUE}
    return found


def _queries(panel, store):
    return [{**store.query(target), "refId": reference(index), "datasource": source_of(store)}
            for index, target in enumerate(panel.targets)]


def _defaults(panel):
    """What holds for all values of a panel."""
    found = {"unit": unit_id(panel.unit)}
    if panel.unit.whole:
        found["decimals"] = 0
    if not panel.log:
        found["min"] = 0
    if panel.top:
        found["max"] = panel.top
    return found


def _scale(panel):
    """The axis of values. Its lines are round figures: powers of 2 for bytes."""
    return {"type": "log", "log": 2 if panel.unit.base == 1024 else 10} if panel.log else {"type": "linear"}


def _curve_members(panel, store):
    """The members of a panel of curves that are its own."""
    custom = {"drawStyle": "line", **(STACK if panel.kind == "stack" else LINE), "showPoints": "never", "spanNulls": CONNECTED,
              "axisLabel": "" if unit_id(panel.unit) in SELF_EXPLAINED else panel.unit.name,
              "scaleDistribution": _scale(panel)}
    overrides = [override("byFrameRefID", reference(index), properties)
                 for index, series in enumerate(panel.series) if (properties := _properties(series, panel.kind))]
    return {
        "type": "timeseries", "targets": _queries(panel, store), "transformations": store.transformations(panel.targets),
        "fieldConfig": {"defaults": {**_defaults(panel), "color": {"mode": "palette-classic"}, "custom": custom},
                        "overrides": overrides},
        "options": {"legend": {"displayMode": "list", "placement": "bottom", "showLegend": True, "calcs": []},
                    "tooltip": {"mode": "multi", "sort": "desc"}}}


def _link(store, uid, title, *variables):
    """A link of a cell to another dashboard. variables: (name, value)"""
    given = "&".join(f"var-{name}={value}" for name, value in (("datasource", "${datasource}"), *variables))
    return {"title": title, "url": f"/d/{uid_of(uid, store)}?{given}&${{__url_time_range}}"}


def _cell_links(panel, store):
    """{column: link to what its cell names}"""
    # By the names from before they are changed, which Grafana looks for first.
    cells = {one: f"${{__data.fields.{name}}}" for one, name in zip(panel.by(), columns(panel, store))}
    chosen = {"host": "${host}", **cells}
    return {column: _link(store, *LINKED[column], *((name, chosen[name]) for name in ("host", "service")
                                                    if name in ("host", column))) for column in cells}


def _table_members(panel, store):
    """The members of a table that are its own."""
    links = _cell_links(panel, store)
    overrides = [override("byName", column, {"links": [links[column]]}) for column in panel.by()]
    overrides.append(override("byName", panel.unit.name, {
        "custom.cellOptions": {"type": "gauge", "mode": "basic"}, "color": {"mode": "fixed", "fixedColor": BLUE}}))
    return {
        "type": "table", "targets": [limited(query, panel, store) for query in _queries(panel, store)],
        "fieldConfig": {"defaults": _defaults(panel), "overrides": overrides},
        "options": {"frameIndex": 0, "showHeader": True, "cellHeight": "sm"},
        "transformations": table_steps(panel, store), "timeFrom": RECENT, "hideTimeOverride": True}


class Layout:
    """Panels from left to right, in lines."""

    def __init__(self):
        self.x = self.y = self.used = 0

    def position(self, width, height):
        """The position of the next panel."""
        if self.x + width > WIDTH:
            self.finish()
        position = {"x": self.x, "y": self.y, "w": width, "h": height}
        self.x, self.used = self.x + width, max(self.used, height)
        return position

    def finish(self):
        """Begins a line, unless the current one is empty."""
        self.x, self.y, self.used = 0, self.y + self.used, 0

    def row(self):
        """The position of the heading of a row."""
        self.finish()
        return self.position(WIDTH, 1)


class PanelList:
    """The panels of a dashboard for a store."""

    def __init__(self, store):
        self.store, self.layout, self.count = store, Layout(), 0

    def _id(self):
        self.count += 1
        return self.count

    def panel(self, panel):
        members = (_table_members if panel.kind == "table" else _curve_members)(panel, self.store)
        width = WIDE if panel.parts or panel.kind == "table" else NARROW
        return {"id": self._id(), "title": panel.title, "description": panel.help, "datasource": source_of(self.store),
                "gridPos": self.layout.position(width, HEIGHT), "interval": self.store.step, **members}

    def row(self, title, panels, is_open):
        """The heading of a row and its panels, which a collapsed row contains."""
        heading = {"id": self._id(), "type": "row", "title": title, "collapsed": not is_open, "gridPos": self.layout.row(),
                   "panels": []}
        below = self.layout.y + 1
        found = [self.panel(panel) for panel in panels]
        if is_open:
            return [heading, *found]
        # What follows moves down when the row is opened.
        self.layout.finish()
        self.layout.y = below
        return [{**heading, "panels": found}]


def _variables(dashboard, store):
    """The variables: the data source first."""
    source = {"name": "datasource", "label": "Data source", "type": "datasource", "query": store.datasource}
    return [source, *(_variable(one, dashboard.many, store) for one in store.variables() if one["name"] in dashboard.variables)]


def _variable(one, many, store):
    """A variable of the store. many: several of its values can be chosen, and all are at first"""
    found = {name: value for name, value in one.items() if name in VARIABLE}
    if many:
        chosen = {"includeAll": True, "allValue": one["allValue"], "current": {"text": ["All"], "value": ["$__all"]}}
    else:
        chosen = {"includeAll": False}
    return {**found, "datasource": source_of(store), "multi": many, **chosen}


def _dashboard_link(uid, title, variables, store):
    """A link at the top of a dashboard. variables: names of those that the other dashboard gets"""
    given = "".join(f"&var-{name}=${{{name}}}" for name in variables)
    return {"title": title, "type": "link", "url": f"/d/{uid_of(uid, store)}?var-datasource=${{datasource}}{given}",
            "includeVars": False, "keepTime": True, "targetBlank": False, "icon": "dashboard", "tooltip": "", "tags": [],
            "asDropdown": False}


def dashboard_json(dashboard, store, titles):
    """A dashboard for a store, as Grafana imports it. titles: of all dashboards, by uid"""
    found = PanelList(store)
    panels = [panel for index, (title, many) in enumerate(dashboard.rows)
              for panel in found.row(title, many, index < dashboard.opened)]
    return {
        "uid": uid_of(dashboard.uid, store), "title": f"{dashboard.title} ({store.name})", "description": dashboard.description,
        "tags": ["collectd", "ebpf", store.datasource], "schemaVersion": SCHEMA, "version": 1, "editable": True,
        "graphTooltip": 1, "refresh": "10s", "time": {"from": "now-1h", "to": "now"}, "timezone": "browser", "timepicker": {},
        "fiscalYearStartMonth": 0, "weekStart": "", "annotations": {"list": []},
        "templating": {"list": _variables(dashboard, store)},
        "links": [_dashboard_link(uid, titles[uid], variables, store) for uid, variables in dashboard.links], "panels": panels}
