# SPDX-License-Identifier: MIT
"""What a collectd has dispatched in some readings, as a file, and as write_prometheus serves it.

Series: {(subject, TYPE[-INSTANCE]): [(time in s, value of each data source, ...), ...]}, oldest first. The file has a
line [SUBJECT] before those of a subject; a line is a name and its values in each reading, with commas between those of a
reading. Its readings are INTERVAL apart.
"""

import http.server
import math
import threading

from e2e import read_types

HOST = "testhost"
INTERVAL = 5        # s, between two readings
READINGS = 4        # that are kept
COMMENT = "# SPDX-License-Identifier: MIT\n# Written by tests/e2e/record.\n"


def shortened(value):
    return f"{value:.6f}".rstrip("0").rstrip(".") if isinstance(value, float) and not math.isnan(value) else str(value)


def as_number(text):
    return float(text) if "." in text or text == "nan" else int(text)


def write(path, series):
    """The last readings of what has as many."""
    with open(path, "w", encoding="ascii") as file:
        file.write(COMMENT)
        before = None
        for (subject, name), rows in sorted(series.items()):
            if len(rows) < READINGS:
                continue
            if subject != before:
                file.write(f"[{subject}]\n")
                before = subject
            file.write(" ".join([name] + [",".join(map(shortened, row[1:])) for row in rows[-READINGS:]]) + "\n")


def read(path, end):
    """The series, with the last reading at this time."""
    series, subject = {}, None
    with open(path, encoding="ascii") as file:
        for line in file:
            name, *readings = line.split()
            if name.startswith("["):
                subject = name[1:-1]
            elif name != "#":
                series[subject, name] = [(end - (len(readings) - 1 - number) * INTERVAL, *map(as_number, one.split(",")))
                                         for number, one in enumerate(readings)]
    return series


def family(kind, source, is_counter):
    """As write_prometheus calls a data source of a type."""
    return "_".join(["collectd_ebpf", kind] + [source] * (source != "value") + ["total"] * is_counter)


def heading(name, kind, source, is_counter):
    what = "counter" if is_counter else "gauge"
    return (f"# HELP {name} write_prometheus plugin: 'ebpf' Type: '{kind}', Dstype: '{'derive' if is_counter else what}', "
            f"Dsname: '{source}'\n# TYPE {name} {what}\n")


def sample(name, subject, instance, value, stamp):
    kind = f',type="{instance}"' if instance else ""
    return f'{name}{{ebpf="{subject}"{kind},instance="{HOST}"}} {shown(value)} {round(1000 * stamp)}\n'


def order(item):
    """Within a family: first what has fewer labels."""
    (subject, file), _ = item
    instance = file.partition("-")[2]
    return bool(instance), subject, instance


def shown(value):
    return f"{value:.15g}"


def exposition(newest):
    """The page of write_prometheus. newest: {(subject, TYPE[-INSTANCE]): (time, value of each data source, ...)}"""
    families, types = {}, read_types()
    for (subject, file), (stamp, *values) in sorted(newest.items(), key=order):
        kind, _, instance = file.partition("-")
        for (source, of), value in zip(types[kind], values):
            name = family(kind, source, of == "DERIVE")
            lines = families.setdefault(name, [heading(name, kind, source, of == "DERIVE")])
            lines.append(sample(name, subject, instance, value, stamp))
    return "".join("".join(lines) for _, lines in sorted(families.items()))


def newest_at(stamps, series):
    """What exposition() takes, of the rows that a page has. stamps: {sample's name and labels without their end: ms}"""
    types, found = read_types(), {}
    for (subject, file), rows in series.items():
        kind, _, instance = file.partition("-")
        source, of = types[kind][0]
        stamp = stamps.get(sample(family(kind, source, of == "DERIVE"), subject, instance, 0, 0).partition("} ")[0])
        found |= {(subject, file): row for row in rows if f"{1000 * row[0]:.0f}" == stamp}
    return found


def is_same_line(one, other):
    """Of two pages, but that one has more digits of a gauge."""
    (name, value, *stamp), (other_name, other_value, *other_stamp) = one.rsplit(" ", 2), other.rsplit(" ", 2)
    if (name, stamp) != (other_name, other_stamp):
        return False
    return value == other_value or not one.startswith("#") and abs(float(value) - float(other_value)) <= 5.1e-7


class RecordedPage:
    """Serves the readings, each once and the last one from then on."""

    def __init__(self, series):
        self.readings = max(map(len, series.values()))
        pages = [exposition({name: rows[number] for name, rows in series.items()}).encode() for number in range(self.readings)]
        self.served = 0
        page = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.send_header("Content-Type", "text/plain; version=0.0.4")
                self.end_headers()
                self.wfile.write(pages[min(page.served, page.readings - 1)])
                page.served += 1

            def log_message(self, *_words):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def is_read(self):
        return self.served >= self.readings
