# SPDX-License-Identifier: MIT
"""The series of the probes, as ebpf-describe has found them in the tags."""


class Trouble(Exception):
    """The reason why a file cannot be written."""


def help_text(of):
    """The text of a HELP tag."""
    return of["title"] + (f": {of['text']}" if of["text"] else "")


def by_cpu(table):
    """The label of rows by CPU, if an option adds it."""
    return [f"CPU (with B<Option> C<{table['by_cpu']}>)"] if table["by_cpu"] else []


def rows_of(table):
    """What the rows of a table are about: words of SUBJECT, and the labels of keys."""
    words = [word for word in table["subject"].split() if word in ("service", "process", "probe", "cpu")]
    return words + [label for label in table["labels"] if label not in words] + by_cpu(table)


class Series:
    """A series of a probe, with the tables that have it."""

    def __init__(self, probe, table, entry):
        self.probe, self.tables = probe, [table]
        self.name = entry["name"] + ("-*" if table["in_instance"] else "")
        self.kind, self.sources, self.frequency = entry["kind"], entry["sources"], entry["frequency"]
        self.files, self.off = entry["files"], entry["off"]

    def counts(self):
        return self.kind == "integer" and self.sources[0]["growth"] != "gauge"

    def units(self):
        return " and ".join(dict.fromkeys(source["unit"] for source in self.sources))

    def names(self):
        """Names of the data sources, if there are several."""
        return [source["name"] for source in self.sources] if len(self.sources) > 1 else []

    def option(self):
        return next((table["option"] for table in self.tables if table["option"]), "")

    def rows(self):
        """What its rows are about."""
        return list(dict.fromkeys(word for table in self.tables for word in rows_of(table)))


def series_of(probe):
    """Each series once: tables of services and of processes have the same ones."""
    found = {}
    for table in probe["tables"]:
        for entry in table["series"]:
            one = Series(probe, table, entry)
            if one.name in found:
                found[one.name].tables.append(table)
            else:
                found[one.name] = one
    return list(found.values())


def sentence(text):
    return text[0].upper() + text[1:] + "."
