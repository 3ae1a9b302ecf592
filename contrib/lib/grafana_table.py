# SPDX-License-Identifier: MIT
"""Tables of the last values of series, made by Grafana from the answers of any store."""

MOST = 20       # rows of a table
LAST = "Last *"     # Grafana's column of the last value that is known
# Names of the labels of a store's series. Graphite's have none: their names have all.
LABELS = {"prometheus": {"host": "instance", "service": "service"}, "influxdb": {"host": "host", "service": "instance"}}
# The name of a series as pairs of a key and a value, which Grafana makes columns of. Names may have a colon.
NAME, PAIRS = r"^([^ ]*) (.*)$", r"host='\1' service='\2'"


def limited(query, panel, store):
    """The query of a table, which needs no values of the past."""
    if store.datasource == "prometheus":
        return {**query, "instant": True, "range": False}
    if store.datasource == "graphite":
        # Grafana would give the row of a series without values those of the next one.
        present = f"removeEmptySeries({query['target']})"
        return {**query, "target": f'aliasSub({present},"{NAME}","{PAIRS}")' if panel.by()[1:] else present}
    return query


def columns(panel, store):
    """Grafana's names of the columns that tell hosts and services, in the order of panel.by()."""
    if store.datasource in LABELS:
        return [LABELS[store.datasource][one] for one in panel.by()]
    return list(panel.by()) if panel.by()[1:] else ["Field"]


def _reduced(panel, store):
    """The transformations that make these columns and that of the last value."""
    labelled = store.datasource in LABELS
    steps = [{"id": "reduce", "options": {"mode": "seriesToRows", "reducers": ["lastNotNull"], "labelsToFields": labelled}}]
    if not labelled and panel.by()[1:]:
        steps.append({"id": "extractFields", "options": {"source": "Field", "format": "kvp", "replace": False}})
    return steps


def table_steps(panel, store):
    """Make rows of series: columns for the host and the service, one value for all series of a row, and the first rows."""
    keys, value, shown = columns(panel, store), f"{LAST} ({panel.how()})", panel.unit.name
    fields = {key: {"operation": "groupby", "aggregations": []} for key in keys}
    return [
        *_reduced(panel, store),
        {"id": "groupBy", "options": {"fields": {**fields, LAST: {"operation": "aggregate", "aggregations": [panel.how()]}}}},
        {"id": "organize", "options": {
            "excludeByName": {}, "indexByName": {name: index for index, name in enumerate((*keys, value))},
            "renameByName": {**{old: new for old, new in zip(keys, panel.by()) if old != new}, value: shown}}},
        {"id": "sortBy", "options": {"sort": [{"field": shown, "desc": not panel.lowest}]}},
        {"id": "limit", "options": {"limitField": MOST}}]
