#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Documents lead where they say, and are short and plain.

Each link, picture and anchor of a page is there, in the tree and as installed; so is each installed file that a text names, and
each section or option of a manual or a document. A manual that a page names is a link. The index has links to all pages and
manuals, and answers to the questions of its table within one click. What people have written has no refused words
(tests/check/phrases), no long sentences, and keeps to a number of words. Messages, usage texts and help have no refused words
either. No command writes over a file in /etc that may belong to another package or to an administrator.
"""

import collections
import glob
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.append(os.path.dirname(os.path.realpath(__file__)))

import prose  # noqa: E402
import said  # noqa: E402

TOP = prose.TOP
INDEX = "docs/index.md"
WORDS_MAX = 30000
WORDS_OF = {"README.md": 1100, "tests/README.md": 420}
MEAN_MAX, SENTENCE_MAX = 18, 40
TEXTS_MIN = 2000
TOPICS, TOPICS_MIN, CLICKS_MAX = "## Questions before a decision", 20, 1

LINK = re.compile(r"!?\[[^\]]*\]\(([^()\s]+)\)|<(?:img|a)\s[^>]*?(?:src|href)=\"([^\"]+)\"")
ELSEWHERE = re.compile(r"[a-z]+:")
OUR_MANUAL = re.compile(r"\b((?:collectd-ebpf|ebpf-)[a-z-]*)>?\(([1-8])\)")
INSTALLED = re.compile(r"/usr/(?:share/doc|share|include|libexec)/collectd-ebpf(?:/[\w.*+@-]*[\w*])*")
DOCUMENTS = "/usr/share/doc/collectd-ebpf/"
# Tools name a document, a section of it and an example by these functions of contrib/lib/samples.py.
NAMED = re.compile(r"\b(document|heading|sample)\([\"']([\w./-]+)[\"'](?:, [\"']([^\"']+)[\"'])?\)")
# A part of a manual: LIMITS, <Service>, MaxServices; "LIMITS in NAME(5)", "NAME(5), LIMITS".
PART = r"<?[A-Z][\w-]*>?(?: [A-Z][\w-]*)*"
PARTS_IN = re.compile(rf"(?:\b[Ss]ee )?({PART}(?:(?:,| and| or) {PART})*) in {OUR_MANUAL.pattern}")
PARTS_AFTER = re.compile(rf"{OUR_MANUAL.pattern}, (probe \w+|{PART})")
ADDRESS = re.compile(r"(?<![\w.+\"-])[\w.+-]+@[\w.-]*\w")
# RFC 2606 reserves these domains.
NO_MAIL = re.compile(r"no-?reply|[@.](?:example(?:\.(?:com|net|org))?|invalid|test)$")
POD_LINK = re.compile(r"L<(?:([\w-]+)\((\d)\))?/([^<>]+)>")
PAGE = re.compile(r"(?<![\w/.-])[\w-]+\.md\b")
# Code that has a limit quotes the manual that says so.
QUOTED = re.compile(r"\b(collectd-ebpf[a-z-]*|ebpf-[a-z]+)\(\d\) says \"([^\"]+)\"")
PLACEHOLDER = re.compile(r"/(?:X|NAME|FILE)\b")
MARKED = re.compile(r"[BCFILS]<((?:[^<>]|E<gt>)*)>")
COMMAND = re.compile(r"\b(?:cp|install|ln|mv|tee) [^\n`|;&<>]*[^\s`|;&<>]")
# By a redirection, as a block below its name, and by the head of an example.
WRITTEN = re.compile(r"(?<!>)> ?(/etc/[\w./*+@-]+)|`(/etc/[^`\s]+)`:\n\n```|^ {4}# (/etc/\S+)$|For[\s#]+(/etc/[\w./-]*\w)(?![\w./-]*/)", re.M)
# Names that only this package gives.
OURS = re.compile(r"ebpf|^receiver-")
# Those for contributors may name sources.
SOURCES_OF = re.compile(r"(?:`|[CF]<)(?:conf|docs)/")
FOR_CONTRIBUTORS = ("docs/architecture.md", "docs/writing-a-probe.md")


# --- Markdown ---------------------------------------------------------------------------------

def without_examples(text):
    """Fences and indented lines are empty, code in a line is blank but for its quotes."""
    text = re.sub(r"^```.*?^```$|^(?: {4}|\t)[^\n]*$", "", text, flags=re.M | re.S)
    return re.sub(r"`([^`\n]*)`", lambda code: "`" + "x" * len(code.group(1)) + "`", text)


def links_of(text):
    found = [target or source for target, source in LINK.findall(without_examples(text))]
    return [target for target in found if not ELSEWHERE.match(target)]


def anchors_of(text):
    """As GitHub makes them of headings."""
    anchors, seen = set(), collections.Counter()
    for heading in re.findall(r"^#+ +(.*?) *#*$", re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S), re.M):
        heading = re.sub(r"!?\[([^\]]*)\]\([^()]*\)", r"\1", heading)
        name = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        anchors.add(f"{name}-{seen[name]}" if seen[name] else name)
        seen[name] += 1
    return anchors | set(re.findall(r"<a (?:id|name)=\"([^\"]+)\"", text))


class Pages:
    """Markdown below a directory: texts by path."""

    def __init__(self, top, paths):
        self.top = top
        self.texts = {}
        for path in paths:
            with open(os.path.join(top, path), encoding="utf-8") as file:
                self.texts[path] = file.read()

    def resolve(self, page, target):
        """(path, anchor) that a link of this page leads to."""
        path, _, anchor = target.partition("#")
        return (os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page), anchor

    def broken(self, page):
        for target in links_of(self.texts[page]):
            path, anchor = self.resolve(page, target)
            if path.startswith("..") or not os.path.exists(os.path.join(self.top, path)):
                yield f"{page}: {target}: there is no such file"
            elif anchor and anchor not in anchors_of(self.texts.get(path, "")):
                yield f"{page}: {target}: there is no such heading"

    def all_broken(self):
        return [text for page in self.texts for text in self.broken(page)]


# --- index ------------------------------------------------------------------------------------

def manual_of(path):
    """docs/ebpf-top.pod: ebpf-top(1)"""
    name = os.path.basename(path).removesuffix(".pod")
    return f"{name}({5 if name == 'collectd-ebpf' else 7 if name.startswith('collectd-ebpf-') else 1})"


def clicks(pages, start):
    """{page: links to follow from the start}; the table of questions is not followed."""
    distances, queue = {start: 0}, [start]
    for page in queue:
        text = pages.texts.get(page, "").partition(TOPICS)[0]
        for following in (pages.resolve(page, target)[0] for target in links_of(text)):
            if following not in distances:
                distances[following] = distances[page] + 1
                queue.append(following)
    return distances


def topics_of(text):
    """[(question, link)] of the rows of the table."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.partition(TOPICS)[2].splitlines()
            if line.startswith("|")]
    return [row for row in rows[2:] if len(row) == 2]


def complaints_of_topics(pages):
    distances = clicks(pages, INDEX)
    rows = topics_of(pages.texts[INDEX])
    if len(rows) < TOPICS_MIN:
        yield f"{INDEX}: {len(rows)} questions, not {TOPICS_MIN}"
    for topic, where in rows:
        page = next((pages.resolve(INDEX, link)[0] for link in links_of(where)), "nothing")
        if distances.get(page, 9) > CLICKS_MAX:
            yield f"{INDEX}: {topic} {page} takes more than {CLICKS_MAX} clicks"


def complaints_of_index(pages, paths):
    """paths: of all pages and manuals"""
    text = pages.texts[INDEX].partition(TOPICS)[0]
    linked = {INDEX, *(pages.resolve(INDEX, target)[0] for target in links_of(text))}
    yield from (f"{INDEX}: has no {path}" for path in paths if path.startswith("docs/") and path not in linked)


def complaints_of_mentions(path, text):
    """On the web the name of a manual leads nowhere without a link."""
    yield from (f"{path}: {name}({section}) is no link" for name, section in
                OUR_MANUAL.findall(LINK.sub("", prose.by_hand(text, "md"))))


# --- parts of manuals -------------------------------------------------------------------------

def flat(text):
    """In one line, without fonts, links, quotes and signs of comments and strings."""
    text = re.sub(r"\n[ \t]*(?:#|\*|//|f?\")?", " ", text).replace("E<lt>", "\1").replace("E<gt>", "\2")
    while re.search(r"[BCFILS]<[^<>]*>", text):
        text = re.sub(r"[BCFILS]<([^<>]*)>", r"\1", text)
    text = re.sub(r"\[([^\]]*)\]\([^()\s]*\)|\\?[\"`]", r"\1", text)
    return prose.squeeze(text.replace("\1", "<").replace("\2", ">"))


def parts_of(manual):
    """What texts may name of it: headings, blocks with and without their brackets, options."""
    heads = [flat(head) for head in re.findall(r"^=head\d (.*)$", manual, re.M)]
    blocks = [block for head in heads for block in re.findall(r"^Block <(\w+)", head)]
    options = [flat(item).split()[0] for item in re.findall(r"^=item (.*)$", manual, re.M)]
    return {*heads, *options, *blocks, *(f"<{block}>" for block in blocks)}


def named_parts(path, text):
    """(name(section), part) of each reference."""
    own = manual_of(path) if path.endswith(".pod") else ""
    for name, number, part in POD_LINK.findall(text.replace("E<lt>", "\1").replace("E<gt>", "\2")):
        yield f"{name}({number})" if name else own, flat(part).replace("\1", "<").replace("\2", ">")
    text = flat(text)
    for parts, name, number in PARTS_IN.findall(text):
        yield from ((f"{name}({number})", part) for part in re.split(r", | and | or ", parts))
    for name, number, part in PARTS_AFTER.findall(text):
        yield f"{name}({number})", part.replace("probe ", "PROBE ")


def complaints_of_manuals(path, text, manuals):
    """manuals: {name(section): text}"""
    named = {f"{name}({section})" for name, section in OUR_MANUAL.findall(text)}
    yield from (f"{path}: there is no manual {name}" for name in sorted(named - set(manuals)))
    yield from (f"{path}: {manual} has no {part}" for manual, part in sorted(set(named_parts(path, text)))
                if part not in parts_of(manuals.get(manual, "")))


# --- installed files --------------------------------------------------------------------------

def names_in(text):
    """Installed files that this text names."""
    yield from INSTALLED.findall(text)
    for kind, name, _ in NAMED.findall(text):
        yield DOCUMENTS + ("examples/" if kind == "sample" else "") + name


def complaints_of_names(path, text, root):
    for name in sorted(set(names_in(text))):
        if not PLACEHOLDER.search(name) and not glob.glob(root + name):
            yield f"{path}: {name}: is not installed"
    for _, name, heading in NAMED.findall(text):
        page = root + DOCUMENTS + name
        if heading and not (os.path.exists(page) and re.search(f"^#+ {re.escape(heading)}$", prose.read(page), re.M)):
            yield f"{path}: {name} has no heading \"{heading}\""
    if path.startswith("docs/") and not prose.is_written(path) and path not in FOR_CONTRIBUTORS:
        yield from (f"{path}: {found}...: is installed as {DOCUMENTS}" for found in
                    sorted(set(SOURCES_OF.findall(text))))


def complaints_of_contacts(path, text):
    """An address is a contact, unless it is a value in quotes."""
    yield from (f"{path}: {address} accepts no mail" for address in ADDRESS.findall(text) if NO_MAIL.search(address))


def find_texts():
    """What may name an installed file or a manual."""
    yield from ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "configure.ac")
    for folder in ("bpf", "conf", "contrib", "docs", "plugin", "tests/kernel"):
        for directory, folders, names in os.walk(os.path.join(TOP, folder)):
            folders[:] = [name for name in folders if name not in ("__pycache__", "pictures") and not name.startswith(".")]
            yield from (os.path.relpath(os.path.join(directory, name), TOP) for name in sorted(names)
                        if not name.endswith((".o", ".a", ".png", ".d", ".1", ".5", ".7")))


def read_texts():
    """(path, text)"""
    for path in find_texts():
        try:
            yield path, prose.read(path)
        except UnicodeDecodeError:
            pass


def install(root):
    """What `make install` makes of documents, headers and the modules of tools."""
    environment = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    done = subprocess.run(["make", "install-data", "install-exec", f"DESTDIR={root}", "prefix=/usr", "libdir=/usr/lib"],
                          cwd=os.environ.get("abs_top_builddir", "."), env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"FAIL: make install: {done.stderr}")


def complaints_of_installed():
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR", "/tmp")) as root:
        install(root)
        top = root + DOCUMENTS
        found = [os.path.relpath(path, top) for path in sorted(glob.glob(f"{top}/**/*.md", recursive=True))]
        if "index.md" not in found:
            yield "no index.md is installed"
        yield from (f"installed {text}" for text in Pages(top, found).all_broken())
        for path, text in read_texts():
            yield from (*complaints_of_names(path, text, root), *complaints_of_targets(path, text))


def complaints_of_quotes(path, text):
    for name, words in QUOTED.findall(prose.squeeze(re.sub(r"\n[ \t]*[*#] ", "\n", text))):
        if words not in prose.plain(prose.prose(prose.read(f"docs/{name}.pod"), "pod"), "pod"):
            yield f"{path}: docs/{name}.pod does not say \"{words}\""


# --- files of others --------------------------------------------------------------------------

def written_by(words):
    """The files that a command of these words replaces or takes away."""
    command, *paths = [word for word in words if not word.startswith("-")]
    *sources, target = paths
    taken = sources if command == "mv" else []
    return taken + ([target + os.path.basename(source) for source in sources] if target.endswith("/") else [target])


def targets_of(text):
    """Files in /etc that somebody replaces who follows this text. To edit or to append replaces none."""
    while MARKED.search(text):
        text = MARKED.sub(r"\1", text)
    text = text.replace("E<gt>", ">")
    found = [path for command in COMMAND.findall(text) for path in written_by(command.split())]
    found += ["".join(groups) for groups in WRITTEN.findall(text)]
    return [path for path in found if path.startswith("/etc/")]


def complaints_of_targets(path, text):
    yield from (f"{path}: {target}: may be a file of somebody else" for target in targets_of(text)
                if not OURS.search(os.path.basename(target)))


# --- words ------------------------------------------------------------------------------------

def complaints_of_sentence(path, sentence, refused):
    for regex, instead in refused:
        found = regex.search(sentence)
        if found:
            yield f"{path}: \"{sentence[max(found.start() - 40, 0):found.end() + 40]}\": instead: {instead}"


def complaints_of_words(path, text, refused, allowed):
    """refused, allowed: of prose.find_phrases()"""
    for sentence in prose.sentences(text, prose.kind_of(path), lists=True):
        if not any(document == path and phrase in sentence for document, phrase in allowed):
            yield from complaints_of_sentence(path, sentence, refused)


def complaints_of_sentences(path, text):
    lengths = []
    for sentence in prose.sentences(text, prose.kind_of(path)):
        lengths.append(prose.count_words(sentence, "md"))
        if lengths[-1] > SENTENCE_MAX:
            yield f"{path}: {lengths[-1]} words: \"{sentence[:100]} ...\""
    if lengths and sum(lengths) > MEAN_MAX * len(lengths):
        yield f"{path}: a sentence has {sum(lengths) / len(lengths):.1f} words on average, not {MEAN_MAX}"


def comments_of(text):
    """Of an example, as a page."""
    return "\n\n".join(re.sub(r"^\s*# ?", "", part, flags=re.M).replace("\t", " ") for part in
                       re.findall(r"(?:^[ \t]*# [^\n]*\n)+", text, re.M))


def complaints_of_length(counts):
    """counts: {path: words}"""
    for path, most in WORDS_OF.items():
        if counts.get(path, 0) > most:
            yield f"{path}: {counts[path]} words, more than {most}"
    total = sum(count for path, count in counts.items() if not path.startswith("tests/"))
    print(f"{total} words in total")
    if total > WORDS_MAX:
        yield f"{total} words are written by hand, more than {WORDS_MAX}"


def complaints_of_prose():
    refused, allowed = prose.find_phrases("documents")
    counts = {}
    for path in prose.find_documents() + ["tests/README.md"]:
        text = prose.read(path)
        counts[path] = prose.count_words(text, prose.kind_of(path))
        print(f"{counts[path]:6} words  {path}")
        yield from complaints_of_words(path, text, refused, allowed)
        yield from complaints_of_sentences(path, text)
    for path in sorted(glob.glob(os.path.join(TOP, "conf", "**", "*.*"), recursive=True)):
        path = os.path.relpath(path, TOP)
        yield from (text.replace(".md:", ":", 1) for text in
                    complaints_of_words(path + ".md", comments_of(prose.read(path)), refused, allowed))
    for document, phrase in sorted(allowed):
        if document not in counts or phrase not in prose.plain(prose.prose(prose.read(document), prose.kind_of(document)),
                                                               prose.kind_of(document)):
            yield f"{prose.PHRASES}: {document} does not say \"{phrase}\""
    yield from complaints_of_length(counts)


def complaints_of_said():
    refused, count_texts = prose.find_phrases("said")[0], 0
    for path, text in said.find_texts():
        count_texts += 1
        yield from (f"{path}: {name} is named without its place" for name in PAGE.findall(text))
        for sentence in said.sentences(text):
            yield from complaints_of_sentence(path, sentence, refused)
    print(f"{count_texts} texts of programs")
    if count_texts < TEXTS_MIN:
        yield f"{count_texts} texts of programs are found, not {TEXTS_MIN}"


# --- of itself --------------------------------------------------------------------------------

def count(complaints):
    return len(list(complaints))


def check_itself():
    text = "# A `b`, c: [d](e.md)\n\n## A b c d\n\n[x](y.md#z) `[no](no.md)`\n```\n# no\n[no](no)\n```\n<img\nsrc=\"p.png\">\n"
    assert anchors_of(text) == {"a-b-c-d", "a-b-c-d-1"}, anchors_of(text)
    assert links_of(text) == ["e.md", "y.md#z", "p.png"], links_of(text)

    with tempfile.TemporaryDirectory() as top:
        for path, words in (("docs/index.md", "# I\n\n[a](a.md) [m](m.pod) `n(1)`\n\n" + TOPICS + "\n\n| q | a |\n|---|---|\n"
                             "| 1 | [a](a.md) |\n| 2 | [b](b.md) |\n| 3 | [m](m.pod), TWO |\n| 4 | `n(1)` |\n| 5 | [here](#i) |\n"),
                            ("docs/a.md", "# One two\n\n[b](b.md#no) [b](b.md#yes) [c](c.md) [up](../../x)\n"), ("docs/b.md", "# Yes\n")):
            os.makedirs(os.path.dirname(os.path.join(top, path)), exist_ok=True)
            with open(os.path.join(top, path), "w", encoding="utf-8") as file:
                file.write(words)
        pages = Pages(top, ["docs/index.md", "docs/a.md", "docs/b.md"])
        assert count(pages.broken("docs/a.md")) == 3 and count(pages.broken("docs/index.md")) == 2
        wrong = list(complaints_of_topics(pages))
        assert [re.sub(r"^\S+ (\d).*", r"\1", text) for text in wrong] == ["5", "2", "4"], wrong
        assert count(complaints_of_index(pages, ["docs/index.md", "docs/a.md", "docs/b.md", "docs/m.pod", "docs/n.pod"])) == 2
        assert count(complaints_of_mentions("a.md", "[ebpf-x(1)](m.pod) `ebpf-x(1)`\n\n    ebpf-x(1)\n")) == 1
        assert count(complaints_of_names("conf/x", f"/usr/share/doc/collectd-ebpf/X.conf. {INSTALLED.pattern[:5]}", top)) == 0
        assert count(complaints_of_quotes("x", "/* ebpf-top(1) says \"as B<top>(1)\"; collectd-ebpf(5) says\n * \"per-service metrics\"")) == 1
        assert count(complaints_of_names("docs/x.pod", "F<conf/x> /usr/include/collectd-ebpf/a.h. sample('b')", top)) == 3
        assert count(complaints_of_names("conf/x", "heading('x.md', 'X')", top)) == 2

    manuals = {"ebpf-x(1)": "=head1 TWO WORDS\n\n=item B<Option> I<x>\n\n=head2 Block E<lt>Part \"Name\"E<gt>\n\n=head1 PROBE a\n"}
    for good in ("see TWO WORDS in B<ebpf-x>(1)", "See \"TWO WORDS\"\n# in L<ebpf-x(1)>", "Option and <Part> in `ebpf-x(1)`", "is in ebpf-x(1)",
                 "[ebpf-x(1)](x), TWO WORDS", "ebpf-x(1), probe a", "L<ebpf-x(1)/Block E<lt>Part \"Name\"E<gt>>", "block Part in ebpf-x(1)"):
        assert not count(complaints_of_manuals("conf/x", good, manuals)), good
    for bad in ("see WORDS in ebpf-x(1)", "Option, No in ebpf-x(1)", "<Option> in ebpf-x(1)", "ebpf-x(1), probe b", "L<ebpf-x(1)/TWO>",
                "\"TWO WORD \"\n\t\"in ebpf-x(1)\"", "ebpf-x(2)", "ebpf-none(1)"):
        assert count(complaints_of_manuals("conf/x", bad, manuals)) == 1, bad

    assert not count(complaints_of_contacts("x", 'a@b.org to: "a@example.com", foo@test.service b@latest.org root@localhost'))
    assert count(complaints_of_contacts("x", "<a@noreply.b.org> noreply@b.org a@example.com, a@b.invalid. a@example")) == 5

    page = ("    cp -v a.conf ebpf.conf /etc/x/\n    mv /etc/x/b /etc/x/ebpf\n    echo >/etc/x/c; echo >>/etc/x/no </etc/x/no\n"
            "Write `/etc/x/d`:\n\n```\n    # /etc/x/e\nB<tool> B<E<gt>> F</etc/x/f>\n# For\n# /etc/x/g. cp /etc/x/no /tmp\n")
    assert [re.findall("x/([^:]*)", text)[0] for text in complaints_of_targets("page", page)] == ["a.conf", *"bcdefg"]

    refused = [(re.compile("^Of "), ""), (re.compile(r"\bbad\b"), "")]
    page = "A bad one. Of x.\n\n- Of y\n- bad `bad`\n\n| Of z |\n\n    bad\n"
    assert count(complaints_of_words("a.md", page, refused, set())) == 5
    assert count(complaints_of_words("a.md", page, refused, {("a.md", "A bad")})) == 4
    assert count(complaints_of_words("a.pod", "=item Of x\n\nOf B<x>, C<bad>. F<Of>\n\n bad\n", refused, set())) == 1
    assert count(complaints_of_sentences("a.md", "a " * 41 + "\n\n- " + "b " * 99)) == 2
    assert len(prose.sentences("A `b`. C `d`, e.g. D. Wong's. e", "md")) == 3
    assert not count(complaints_of_sentences("a.md", "A. b c: e.g. d.\n\n# " + "b " * 99 + "\n\n    " + "c " * 99))
    assert prose.count_words("a b-c - `d e`\n\n    no\n\n<!-- x: begin -->\nno\n<!-- x: end -->\n", "md") == 4
    assert prose.count_words("=item C<a> b\n\n no\n\nc\n", "pod") == 3


def main():
    check_itself()
    said.check_itself()
    pages = Pages(TOP, [path for path in prose.find_pages() if path.endswith(".md")])
    manuals = {manual_of(path): prose.read(path) for path in prose.find_pages() if path.endswith(".pod")}
    complaints = [*pages.all_broken(), *complaints_of_index(pages, prose.find_pages()), *complaints_of_topics(pages),
                  *complaints_of_installed(), *complaints_of_prose(), *complaints_of_said()]
    for path, text in pages.texts.items():
        if not prose.is_written(path):
            complaints += complaints_of_mentions(path, text)
    for path, text in read_texts():
        complaints += [*complaints_of_manuals(path, text, manuals), *complaints_of_contacts(path, text), *complaints_of_quotes(path, text)]
    for text in complaints:
        print(f"FAIL: {text}")
    print(f"{len(pages.texts)} pages, {len(manuals)} manuals, {len(complaints)} complaints")
    sys.exit(bool(complaints))


main()
