# SPDX-License-Identifier: MIT
"""What the stores that dashboards query have in common."""


class DashboardStore:
    """query() returns the members of a target in a Grafana panel, variables() those of Grafana that all queries use."""
    name = ""
    datasource = ""     # Grafana's id of the plugin
    step = ""           # the least of a panel; "": Grafana's own

    @staticmethod
    def transformations(_targets):
        """Those of a panel with these targets, for labels that queries cannot make."""
        return []


def variable(name, query, regex="", several=""):
    """A variable of Grafana. query: of the names; regex: with a group for the name, if it is but a part of what the query
    returns; several: the text for all of them, if the reader may choose several"""
    return {"name": name, "label": name.capitalize(), "type": "query", "query": query, "definition": query, "regex": regex,
            "refresh": 2, "sort": 1, "multi": bool(several), "includeAll": bool(several), "allValue": several or None,
            "hide": 0, "options": [], "current": {}}
