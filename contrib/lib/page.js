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
    return this.about.hosts.filter(({name}) => this.kind === "index" || name === this.host).map(({name}) => new kind(this, name, ""));
  }

  build() {
    const nav = make("nav", {"aria-label": "Time and search"}, make("div", {class: "line"}, this.bar.element, this.search.element));
    document.querySelector("main").replaceChildren(nav, ...window.Dygraph ? [] : [this.missing()], ...this.links(), this.when, this.board.status,
                                                   this.board.spoken, ...this.sheets.map(sheet => sheet.element));
    for (const kind of ["pointerdown", "focusin", "click"])
      document.addEventListener(kind, event => this.carry(event.target.closest?.("a[href]")), true);
  }

  missing() {
    return make("p", {class: "missing", role: "alert"},
                "No charts: install libjs-dygraphs (apt-get install libjs-dygraphs) and draw the pages again. The values are in tables below.");
  }

  /* Where one can go on from here. */
  links() {
    const compare = words => Site.address(`compare.html#${words}`), link = (to, text) => make("a", {href: to}, text);
    if (this.kind === "service") {
      const own = `${quote(this.host)}/${quote(this.service)}`;
      return [make("p", {class: "links"}, link(compare(`a=${own}&b=${own}&before=86400`), "Compare with yesterday"), " · ",
                   link(compare(`a=${own}`), "with another service"), " · ", link(Site.address(`hosts/${quote(this.host)}.html`), `Triage of ${this.host}`))];
    }
    const {hosts} = this.about;
    return this.kind === "index" && hosts.length > 1 ? [make("p", {class: "links"}, "Machines: ", hosts.flatMap(({name}, place) => [place ? " · " : "", link("#" + quote(name), name)]))] : [];
  }

  /* A link to another page shows the same time there. */
  carry(link) {
    const to = link && new URL(link.href), own = to && new URLSearchParams(to.hash.slice(1));
    if (!to || to.origin !== location.origin || to.protocol !== location.protocol || !to.pathname.endsWith(".html") || to.pathname.endsWith("/meaning.html") || link.getAttribute("href").startsWith("#"))
      return;
    const words = to.hash.slice(1).split("&").filter(word => word && !/^(from|to|span)=/.test(word)).map(word => word.includes("=") ? word : `at=${word}`);
    link.hash = [...words, this.view.words(false)].join("&");
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
    const {view, about} = this, there = found.filter(one => one.hasData && one.isWithin);
    this.when.replaceChildren(make("b", {}, view.inWords()));
    for (const sheet of this.sheets)
      sheet.element.hidden = !there.length && this.kind !== "compare";
    const levels = about.levels.filter(level => this.sheets.some(sheet => sheet.levels?.has(level.name)));
    if (!levels.length || this.kind === "compare" && !this.sheets[0].isReady)
      return;
    const begin = Math.min(...levels.map(level => level.first ?? level.start)), end = Math.max(...levels.map(level => level.end));
    const range = `${Clock.text(begin, DAY)} to ${Clock.text(end, DAY)}`;
    const whole = make("button", {onclick: () => this.bar.change(() => view.choose(about.shown))}, "Show the latest");
    if (!there.length)
      this.when.append(" No value in this time. There are values from ", range, ". ", whole);
    else if (view.from < begin - 60 || view.to > end + 60)
      this.when.append(" There are only values from ", range, ". ", whole);
    else if (view.base)
      this.when.append(" ", make("button", {onclick: () => this.board.reset(), title: "Escape or a double click does so, too"}, "Whole time"));
    const shown = this.sheets.find(sheet => sheet.level), {step} = shown?.level ?? {}, newest = Math.max(...this.sheets.map(sheet => sheet.level?.newest ?? 0));
    if (!there.length || !step)
      return;
    this.when.append(make("small", {}, ` a value every ${writeAge(step)}`));
    if (view.to > newest && end - newest > 2 * step)
      this.when.append(make("span", {class: "old"}, ` The last values are of ${Clock.text(newest, 1)}, ${writeAge(end - newest)} before these pages were drawn.`));
    if (!view.span() && shown.of && (this.kind === "index" || this.kind === "machine"))
      this.when.append(make("small", {}, ` Sentences and tables are of the last ${shown.of.title}.`));
  }

  /* To the part of the page that a link has named. */
  jump() {
    const at = this.view.others.get("at");
    this.view.others.delete("at");
    if (at)
      document.getElementById(at)?.scrollIntoView();
  }
}

const about = said => new Page(said);
