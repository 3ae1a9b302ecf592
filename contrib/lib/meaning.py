# SPDX-License-Identifier: MIT
"""meaning.html: meaning.md as a page, and the place in it that is about a graph. Headings have an id, and so have rows and
paragraphs that begin with the name of a part or a series.

It knows the Markdown of that document: headings, paragraphs, lists, tables, indented code, `code` and links.
"""

import collections
import fnmatch
import functools
import re

import samples
from definitions import LEADING
from text import escape

PAGE, SOURCE = "meaning.html", "meaning.md"
ALL_PARTS = "latency-in_PART"       # the document's name for the series of all parts
# What the document has as a part of a request's time.
PARTS = {"latency-wait-average": "socket", "delay_rate-delay-cpu": "runqueue", "latency-client-average": "upstream",
         "latency-client_first-average": "upstream", "gauge-requests_in_progress-upstream-*": "upstream",
         "latency-upstream-*-average": "upstream", "latency-upstream-*-percentile-99": "upstream",
         "delay_rate-upstream-*": "upstream"}
INLINE = re.compile(r"`([^`]+)`|\[([^]]+)\]\(([^)]+)\)")
STYLE = """body { max-width: 70rem; }
table { border-spacing: 0; font-size: .9rem; }
th, td { padding: .35rem .7rem; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); }
td code { white-space: nowrap; }
pre { overflow-x: auto; }
:target { scroll-margin-top: 3rem; box-shadow: inset .3rem 0 var(--link); }
@media (max-width: 44rem) {
  tr:first-child { display: none; }
  tr, td { display: block; border: 0; padding: .15rem .7rem; }
  tr { padding: .4rem 0; border-bottom: 1px solid var(--line); }
  td:first-child { font-weight: 600; }
  td:not(:first-child)::before { content: attr(data-of) ": "; color: var(--soft); } }
"""

Meaning = collections.namedtuple("Meaning", "title html ids")   # ids: name of a series -> id of what is about it


def _files_of(graph):
    return tuple(series.file for series in graph.series)


LEADS = {_files_of(graph) for graph in LEADING}


def slug(text):
    """The id of a heading, as GitHub makes it from its text."""
    return re.sub(r"[^\w -]", "", text.lower()).replace(" ", "-")


def _inline(text):
    """Code and links as HTML. Another document is named by its path, because it may not be beside the page."""
    found, end = "", 0
    for match in INLINE.finditer(text):
        code, label, target = match.groups()
        if code:
            said = f"<code>{escape(code)}</code>"
        elif target.startswith("#"):
            said = f'<a href="{escape(target)}">{escape(label)}</a>'
        else:
            said = f"{escape(label)} (<code>{escape(samples.document(target))}</code>)"
        found, end = found + escape(text[end:match.start()]) + said, match.end()
    return found + escape(text[end:])


class Page:
    """The document, block by block."""

    def __init__(self, text):
        self.title, self.section, self.ids, self.html = "", "", {}, []
        for block in re.split(r"\n\s*\n", text):
            self._add(block)

    def _add(self, block):
        text = " ".join(block.split())
        if block.startswith("#"):
            self._heading(*text.split(" ", 1))
        elif block.startswith("|"):
            self._table([[cell.strip() for cell in line.strip("| ").split(" |")] for line in block.splitlines()])
        elif block.startswith("    "):
            self.html.append(f"<pre>{escape_lines(block)}</pre>")
        elif block.startswith("- "):
            items = "".join(f"<li>{_inline(' '.join(item.split()))}</li>\n" for item in re.split(r"(?:^|\n)- ", block)[1:])
            self._mention(text)
            self.html.append(f"<ul>{items}</ul>")
        elif text and not text.startswith("<!--"):
            own = self._id(text, "")
            self._mention(text)
            self.html.append(f"<p{own}>{_inline(text)}</p>")

    def _heading(self, marks, text):
        if len(marks) == 1:
            self.title = text
        self.section = slug(text)
        self.html.append(f'<h{len(marks)} id="{self.section}">{_inline(text)}</h{len(marks)}>')

    def _table(self, rows):
        heads, _, *body = rows
        prefix = "part-" if heads[0] == "part" else ""
        html = "<tr>" + "".join(f"<th>{_inline(head)}</th>" for head in heads) + "</tr>\n"
        for cells in body:
            shown = "".join(f'<td data-of="{escape(head)}">{_inline(cell)}</td>' for head, cell in zip(heads, cells))
            html += f"<tr{self._id(cells[0], prefix)}>{shown}</tr>\n"
        self.html.append(f'<div class="wide"><table>\n{html}</table></div>')

    def _id(self, text, prefix):
        """The id of what begins with a name in code, as an attribute."""
        name = re.match(r"`([\w-]+)`", text)
        if not name:
            return ""
        self.ids[name[1]] = prefix + name[1]
        return f' id="{escape(prefix + name[1])}"'

    def _mention(self, text):
        """Names that nothing begins with lead to their section."""
        for name in re.findall(r"`([^`]+)`", text):
            self.ids.setdefault(name, self.section)


def escape_lines(block):
    return "\n".join(escape(line) for line in block.splitlines())


@functools.cache
def read():
    """The document; None if it is not installed."""
    try:
        with open(samples.document(SOURCE), encoding="utf-8") as file:
            page = Page(file.read())
    except OSError:
        return None
    return Meaning(page.title, "\n".join(page.html), page.ids)


def _is_about(name, files):
    """Whether one of these series has this name of the document, which stands for several if it has a `*` or PART."""
    return any(fnmatch.fnmatchcase(name, file) or fnmatch.fnmatchcase(file, name.replace("PART", "*")) for file in files)


@functools.cache
def _id_of(files):
    ids = read().ids if read() else {}
    own = [name for name in ids if _is_about(name, files)] + [PARTS[file] for file in files if file in PARTS]
    names = [ALL_PARTS] if files in LEADS else own
    return next((ids[name] for name in names if name in ids), "")


def doc_of(graph):
    """The address of what the document says about a graph; "" if it says nothing."""
    found = _id_of(_files_of(graph))
    return f"{PAGE}#{found}" if found else ""


def write(output):
    """output: a Folder"""
    meaning = read()
    if meaning:
        output.write(PAGE, '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">\n'
                     '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
                     f'<title>{escape(meaning.title)}</title>\n<link rel="stylesheet" href="lib/style.css">\n'
                     f'<style>\n{STYLE}</style></head><body>\n'
                     f'<p><a href="index.html">All services</a></p>\n{meaning.html}\n</body></html>\n')
