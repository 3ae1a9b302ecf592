/* SPDX-License-Identifier: MIT
 * A page: the bar at its top, what it says of the time that is shown, and its sheets. about.js starts it. */
class Page {
  constructor(about) {
    const {page, host, service} = document.body.dataset;
    Object.assign(this, {about, kind: page, host: JSON.parse(host), service: JSON.parse(service)});
    Clock.offset = about.offset;
    this.view = new View(about, () => this.update());
    const change = action => {
      action();
      return this.update();
    };
    this.bar = new TimeBar(this.view, change);
    this.board = new Board(this.view, change);
    this.search = new Picker(about, "search services ( / )", one => this.go(one), text => this.find(text));
    this.when = make("p", {class: "soft when", role: "status"});
    this.sheets = this.sheetsOf();
    this.build();
    this.update();
  }

  sheetsOf() {
    if (this.kind === "compare")
      return [new Comparison(this)];
    if (this.kind === "service")
      return [new ServiceSheet(this, this.host, this.service)];
    const kind = this.kind === "machine" ? MachineSheet : HostSheet;
    const hosts = this.about.hosts.filter(({name}) => this.kind === "index" || name === this.host);
    return hosts.map(({name}) => new kind(this, name, ""));
  }

  build() {
    const line = make("div", {class: "line"}, this.bar.element, this.search.element);
    const nav = make("nav", {"aria-label": "Time and search"}, line);
    const {status, spoken} = this.board, charts = window.Dygraph ? [] : [this.missing()];
    document.querySelector("main").replaceChildren(nav, ...charts, ...this.notes(), ...this.links(), this.when, status, spoken,
                                                   ...this.sheets.map(sheet => sheet.element));
    const drawn = Clock.stamp(this.about.drawn).replace("T", " ");
    document.querySelector("footer").textContent = `Drawn ${drawn} by ebpf-graph. ${Page.AVERAGES}`;
    for (const kind of ["pointerdown", "focusin", "click"])
      document.addEventListener(kind, event => this.carry(event.target.closest?.("a[href]")), true);
  }

  missing() {
    return make("p", {class: "missing", role: "alert"}, "No charts: install libjs-dygraphs (apt-get install libjs-dygraphs) and "
                + "draw the pages again. The values are in tables below.");
  }

  notes() {
    const notes = this.kind === "index" ? this.about.notes : [];
    return notes.length ? [make("ul", {class: "notes"}, notes.map(note => make("li", {}, note)))] : [];
  }

  /* Where one can go on from here. */
  links() {
    const {hosts} = this.about, own = this.kind === "service" && `${quote(this.host)}/${quote(this.service)}`;
    const link = (address, text) => make("a", {href: address.startsWith("#") ? address : Site.address(address)}, text);
    const found = own ? [
      link(`compare.html#a=${own}&b=${own}&before=86400`, "Compare with yesterday"),
      link(`compare.html#a=${own}`, "Compare with another service"),
      Site.hasTriage(this.about, this.host) ? link(Site.machine(this.host), `Triage of ${this.host}`) : ""]
      : this.kind === "index" && hosts.length > 1 ? hosts.map(({name}) => link("#" + quote(name), name)) : [];
    return found.length ? [make("p", {class: "links"}, found)] : [];
  }

  /* A link to another page shows the same time there. */
  carry(link) {
    const address = link?.getAttribute("href") ?? "#";
    if (!/^[^#:?]*\.html(#|$)/.test(address) || /(^|\/)meaning\.html/.test(address))
      return;
    const words = link.hash.slice(1).split("&").filter(word => word && !/^(from|to|span)=/.test(word));
    link.hash = [...words.map(word => word.includes("=") ? word : `at=${word}`), this.view.words(false)].join("&");
  }

  go({host, service}) {
    location.href = Site.address(Site.service(host, service.name)) + "#" + this.view.words(false);
  }

  find(text) {
    this.board.find(text);
    for (const table of document.querySelectorAll("main .told table"))
      Tables.filter(table, text);
  }

  async update() {
    const turn = this.turn = (this.turn ?? 0) + 1;
    this.bar.update();
    const found = await Promise.all(this.sheets.map(sheet => sheet.update()));
    if (turn !== this.turn)
      return;
    this.view.write();
    this.say(found);
    this.board.redraw();
    this.jump();
  }

  /* The time that is shown, and what there is where there is nothing of it. */
  say(found) {
    const {view, about, when} = this, there = found.some(one => one.hasData && one.isWithin);
    const levels = about.levels.filter(level => this.sheets.some(sheet => sheet.levels.has(level.name)));
    when.replaceChildren(make("b", {}, view.inWords()));
    for (const sheet of this.sheets)
      sheet.element.hidden = !there && this.kind !== "compare";
    /* No service is chosen. */
    if (!levels.length)
      return;
    const begin = Math.min(...levels.map(level => level.first ?? level.start)), end = Math.max(...levels.map(level => level.end));
    const button = (text, action, title = "") => make("button", {onclick: action, title}, text);
    const choose = () => this.bar.change(() => view.choose(about.shown));
    const latest = [Clock.range(begin, end, about.drawn), ". ", button("Show the latest", choose)];
    if (!there)
      when.append(" No value in this time. There are values from ", ...latest);
    else if (view.from < begin - 60 || view.to > end + 60)
      when.append(" There are only values from ", ...latest);
    else if (view.base)
      when.append(" ", button("Whole time", () => this.board.reset(), "Escape or a double click does so, too"));
    if (there)
      this.sayWhatIsSeen(end);
  }

  /* How fine the values are, when they end, and of which time the tables are. end: of the data */
  sayWhatIsSeen(end) {
    const {view, when} = this, shown = this.sheets.find(sheet => sheet.level);
    if (!shown)
      return;
    const {step} = shown.level, newest = Math.max(...this.sheets.map(sheet => sheet.level?.newest ?? 0));
    const old = ` The last values are of ${Clock.text(newest, 1)}, ${writeAge(end - newest)} before these pages were drawn.`;
    when.append(make("small", {}, ` A value every ${writeAge(step)}.`));
    if (view.to > newest && end - newest > 2 * step)
      when.append(make("span", {class: "old"}, old));
    if (!view.span() && shown.of && ["index", "machine"].includes(this.kind))
      when.append(make("small", {}, ` Sentences and tables are of the last ${shown.of.title}.`));
  }

  /* To the part of the page that a link has named. */
  jump() {
    const at = this.view.others.get("at");
    this.view.others.delete("at");
    if (at)
      document.getElementById(at)?.scrollIntoView();
  }
}

Page.AVERAGES = "Averages of rates, CPU time, threads and requests are over all of the time in which the host has values; "
  + "where a service has none, it counts as 0.";

const about = said => new Page(said);
