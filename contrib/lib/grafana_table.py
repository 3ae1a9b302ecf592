# SPDX-License-Identifier: MIT
"""Tables of the last values of series, made by Grafana from the answers of any store."""

MOST = 20       # rows of a table
LAST = "Last *"     # Grafana's column of the last value that is known
# Names of the labels of a store's series. Graphite's have none: their names have all.
LABELS = {"prometheus": {"host": "instance", "service": "service"}, "influxdb": {"host": "host", "service": "instance"}}
PAIR = r'"^([^ ]*) (.*)$","host=\1 service=\2"'


def limited(query, panel, store):
    """The query of a table, which needs no values of the past."""
    if store.datasource == "prometheus":
        return {**query, "instant": True, "range": False}
    if store.datasource == "graphite" and panel.by()[1:]:
        return {**query, "target": f"aliasSub({query['target']},{PAIR})"}
    return query


def _columns(panel, store):
    """(names of the columns that tell hosts and services in the answer, the transformations that make them)"""
    reduce = {"id": "reduce", "options": {"mode": "seriesToRows", "reducers": ["lastNotNull"],
                                          "labelsToFields": store.datasource in LABELS}}
    if store.datasource in LABELS:
        return [LABELS[store.datasource][one] for one in panel.by()], [reduce]
    if not panel.by()[1:]:
        return ["Field"], [reduce]
    extract = {"id": "extractFields", "options": {"source": "Field", "format": "kvp", "replace": False}}
    return list(panel.by()), [reduce, extract]


def transformations(panel, store):
    """Make rows of series: columns for the host and the service, one value for all series of a row, and the first rows."""
    columns, steps = _columns(panel, store)
    value, shown = f"{LAST} ({panel.how()})", panel.unit.name
    fields = {column: {"operation": "groupby", "aggregations": []} for column in columns}
    return [
        *steps,
        {"id": "groupBy", "options": {"fields": {**fields, LAST: {"operation": "aggregate", "aggregations": [panel.how()]}}}},
        {"id": "organize", "options": {
            "excludeByName": {}, "indexByName": {name: index for index, name in enumerate((*columns, value))},
            "renameByName": {**{old: new for old, new in zip(columns, panel.by()) if old != new}, value: shown}}},
        {"id": "sortBy", "options": {"fields": {}, "sort": [{"field": shown, "desc": not panel.lowest}]}},
        {"id": "limit", "options": {"limitField": MOST}}]
