/* SPDX-License-Identifier: MIT
 * The page that compares: two services, or one service at two times, each chart next to the other with one axis; and above
 * them what is different, in words. */
const EARLIER = [["1 hour", 3600], ["1 day", 86400], ["1 week", 604800]];

const Difference = {
  LEAST: 0.1,       /* the smallest change that is told, of the larger value */
  LITTLE: 0.03,     /* and of the whole of which it is a part */

  /* What stands for a curve in a time: the median of a percentile, the average of all else. */
  figure(curve, range, unit) {
    return curve.percentile ? curve.median(range) : curve.average(range, unit.adds);
  },

  /* [[label, figure]] of a chart's curves. Lines above parts are in another chart, too. */
  figures(chart) {
    return (chart?.curves ?? []).filter(curve => curve.draw !== "figures" && (curve.draw === "stack" || !chart.raw.parts))
      .map(curve => [curve.label, Difference.figure(curve, chart.range, chart.unit)]).filter(([, value]) => isKnown(value));
  },

  /* one, other: charts of the same, of which one may be undefined. Of each curve that differs {title, label, text, size, isPart} */
  of(one, other) {
    const {unit, raw} = one ?? other, sides = [one, other].map(chart => new Map(Difference.figures(chart)));
    const isStack = raw.curves?.some(curve => curve.draw === "stack"), isPart = raw.parts && unit.symbol === "s";
    const whole = Math.max(...sides.map(side => [...side.values()].reduce((a, b) => isStack ? a + b : Math.max(a, b), 0)));
    return [...new Set(sides.flatMap(side => [...side.keys()]))].flatMap(label => {
      const [a, b] = sides.map(side => side.get(label) ?? 0), change = Math.abs(b - a);
      if (!change || change < Difference.LEAST * Math.max(Math.abs(a), Math.abs(b)) || change < Difference.LITTLE * whole)
        return [];
      const text = sides.map(side => side.has(label) ? write(side.get(label), unit) : "none").join(" to ");
      const name = unit.symbol || unit.name === "number" ? "" : ` ${unit.name}`;
      return [{title: raw.title, label, text: text + name, size: change / whole, isPart}];
    });
  },
};

class Comparison {
  constructor(page) {
    Object.assign(this, {page, charts: [], pairs: [], levels: new Set()});
    const {about, view} = page, side = word => new Picker(about, `${word}: HOST/SERVICE`, one => this.choose(word === "of" ? "a" : "b", one));
    this.pickers = [side("of"), side("with")];
    this.earlier = make("input", {type: "text", size: 9, placeholder: "1 day", "aria-label": "with an earlier time: seconds, or such as 2 hours", onchange: () => this.back(this.earlier.value)});
    this.buttons = EARLIER.map(([text, seconds]) => make("button", {onclick: () => this.back(this.before() === seconds ? "0" : String(seconds))}, text));
    this.said = make("div", {class: "differences"});
    this.body = make("div");
    this.form = make("div", {class: "sides"}, make("label", {}, "Compare ", this.pickers[0].element), make("label", {}, "with ", this.pickers[1].element),
                     make("span", {role: "group", "aria-label": "earlier by"}, "earlier by ", this.buttons, this.earlier));
    this.element = make("section", {}, this.form, this.said, this.body);
    this.view = view;
  }

  before() {
    return Math.max(0, Number(this.view.others.get("before")) || 0);
  }

  /* text: such as 3600, 2 hours */
  back(text) {
    const found = /^\s*(\d+(?:\.\d+)?)\s*(s|min|h|d|w)?/i.exec(text), size = {min: 60, h: 3600, d: 86400, w: 604800}[found?.[2]?.toLowerCase()] ?? 1;
    this.earlier.setAttribute("aria-invalid", String(!found && text.trim() !== ""));
    if (found)
      this.set("before", String(Math.round(found[1] * size) || ""));
  }

  set(word, value) {
    this.page.bar.change(() => this.view.others.set(word, value));
  }

  choose(word, {host, service}) {
    this.set(word, `${host}/${service.name}`);
  }

  /* {host, service, title, levels} of a side, or null. Without a second side, the first one. */
  side(word) {
    const text = this.view.others.get(word) || this.view.others.get("a") || "", [host, name] = [text.slice(0, text.indexOf("/")), text.slice(text.indexOf("/") + 1)];
    const service = this.page.about.hosts.find(one => one.name === host)?.services.find(one => one.name === name);
    return service ? {host, service: name, title: this.page.about.hosts.length > 1 ? `${host}/${service.title}` : service.title, levels: service.levels} : null;
  }

  async load(side, shift) {
    const {from, to, about} = this.view, level = View.prototype.level.call({about, from: from - shift, to: to - shift}, side?.levels ?? []);
    const read = level && await Data.values(side.host, side.service, level.name);
    return read ? {...side, read, level: new Level(read, about), shift} : null;
  }

  async update() {
    const before = this.before(), sides = [this.side("a"), this.side("b")];
    this.isReady = Boolean(sides[0]);
    this.levels = new Set(sides.flatMap(side => side?.levels ?? []));
    this.mark(sides, before);
    /* The earlier time is on the left. */
    const loaded = await Promise.all(before ? [this.load(sides[1], before), this.load(sides[0], 0)] : [this.load(sides[0], 0), this.load(sides[1], 0)]);
    if (this.loaded?.some((one, place) => one?.read !== loaded[place]?.read || one?.shift !== loaded[place]?.shift) ?? true)
      this.build(loaded);
    this.loaded = loaded;
    this.pairs.flat().forEach(chart => chart?.setView(this.view));
    this.tell();
    return {hasData: loaded.some(Boolean), isWithin: loaded.some(Boolean)};
  }

  mark(sides, before) {
    sides.forEach((side, place) => {
      if (document.activeElement !== this.pickers[place].input)
        this.pickers[place].input.value = side && (place === 0 || this.view.others.get("b") || before) ? `${side.host}/${side.title.split("/").at(-1)}` : "";
    });
    this.buttons.forEach((button, place) => button.ariaPressed = String(EARLIER[place][1] === before));
    if (document.activeElement !== this.earlier)
      this.earlier.value = before && !EARLIER.some(([, seconds]) => seconds === before) ? `${before} s` : "";
  }

  build(loaded) {
    this.page.board.remove(this.charts);
    const [one, other] = loaded.map(side => new Map(!side ? [] : side.read.sections.flatMap(({title, charts}) => charts.map(raw => [JSON.stringify([title, raw.title]), {title, raw}]))));
    const names = [...new Set([...one.keys(), ...other.keys()])].filter(name => [one, other].some(side => side.has(name) && !isZero(side.get(name).raw)));
    const chart = (side, found) => found && side ? this.page.board.add(new Chart({...found.raw, leads: false}, side.level, this.page.board, side.shift)) : undefined;
    this.pairs = names.map(name => [chart(loaded[0], one.get(name)), chart(loaded[1], other.get(name))]);
    this.pairs.filter(([a, b]) => a && b).forEach(([a, b]) => [a.twin, b.twin] = [b, a]);
    this.charts = this.pairs.flat().filter(Boolean);
    this.heads = loaded.map(() => make("h2"));
    const cell = (found, place) => found?.element ?? make("p", {class: "soft none"}, loaded[place] ? `${loaded[place].title} has no value of this.` : "");
    this.body.replaceChildren(make("div", {class: "pair heads"}, this.heads), ...this.pairs.map(pair => make("div", {class: "pair"}, pair.map(cell))));
  }

  /* The differences in words, the largest first: above all those of the parts of a request's time. */
  tell() {
    const [one, other] = this.loaded, named = side => side ? side.title + (this.before() || one?.title === other?.title
      ? ` ${Clock.range(this.view.from - side.shift, this.view.to - side.shift, this.view.about.drawn)}` : "") : "";
    this.heads.forEach((head, place) => head.textContent = named(this.loaded[place]));
    this.body.hidden = !this.isReady;
    const isSame = one && other && one.read === other.read && one.shift === other.shift;
    const found = isSame ? [] : this.pairs.flatMap(([a, b]) => (a ?? b).raw.more ? [] : Difference.of(a, b)).sort((a, b) => b.isPart - a.isPart || b.size - a.size);
    const row = ({label, text, title}) => make("li", {}, make("b", {}, label), ` ${text} `, make("small", {}, title));
    const rest = found.slice(Comparison.MOST);
    const words = !this.isReady ? "Choose a service; then another one, or an earlier time." : isSame ? "Choose another service, or an earlier time."
      : !one || !other ? `${(this.side(this.before() ? "b" : one ? "b" : "a") ?? {}).title ?? "One side"} has no value in this time.` : found.length ? "" : "No difference of 10 % or more.";
    this.said.replaceChildren(make("h2", {}, found.length ? `What differs, from ${named(one)} to ${named(other)}` : ""), words, make("ul", {}, found.slice(0, Comparison.MOST).map(row)),
                              rest.length ? make("details", {}, make("summary", {}, `${rest.length} more`), make("ul", {}, rest.map(row))) : "");
  }
}
Comparison.MOST = 12;
