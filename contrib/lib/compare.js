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

  /* Of each curve that differs {title, label, text, size, isPart}. one, other: a chart on both sides; one may be undefined */
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
    Object.assign(this, {page, view: page.view, charts: [], pairs: [], loaded: [], levels: new Set()});
    const picker = (label, word) => new Picker(page.about, `${label}: HOST/SERVICE`,
                                               ({host, service}) => this.set(word, `${host}/${service.name}`));
    this.pickers = [picker("compare", "a"), picker("with", "b")];
    this.earlier = make("input", {type: "text", size: 9, placeholder: "2 hours", "aria-label": "earlier by, such as 2 hours",
                                  onchange: () => this.back(this.earlier.value)});
    this.buttons = EARLIER.map(([text, seconds]) =>
      make("button", {onclick: () => this.set("before", this.before() === seconds ? "" : String(seconds))}, text));
    this.said = make("div", {class: "differences"});
    this.body = make("div");
    this.element = make("section", {}, make("div", {class: "sides"},
      make("label", {}, "Compare ", this.pickers[0].element), make("label", {}, "with ", this.pickers[1].element),
      make("span", {role: "group", "aria-label": "earlier by"}, "earlier by ", this.buttons, this.earlier)),
    this.said, this.body);
  }

  /* Seconds by which the other side is earlier; there is nothing before 1970. */
  before() {
    const before = Number(this.view.others.get("before"));
    return before > 0 && before < this.page.about.drawn ? before : 0;
  }

  /* text: such as 3600, 2 hours; empty: no earlier time */
  back(text) {
    const found = /^\s*(\d+(?:\.\d+)?)\s*(s|min|h|d|w)?/i.exec(text);
    const size = {min: 60, h: 3600, d: 86400, w: 604800}[found?.[2]?.toLowerCase()] ?? 1;
    this.earlier.setAttribute("aria-invalid", String(!found && text.trim() !== ""));
    if (found || !text.trim())
      this.set("before", String(Math.round((found?.[1] ?? 0) * size) || ""));
  }

  set(word, value) {
    this.page.bar.change(() => this.view.others.set(word, value));
  }

  /* {host, service, text, title, levels} of a side, without levels if there is no such service; null if none is chosen. Without a
   * second side, the first one. */
  side(word) {
    const {hosts} = this.page.about, {others} = this.view, text = others.get(word) || others.get("a") || "";
    const [host, name] = text.split("/"), found = hosts.find(one => one.name === host)?.services.find(one => one.name === name);
    if (!found)
      return text ? {text, title: text, levels: []} : null;
    const whole = `${host}/${found.title}`;
    return {host, service: name, text: whole, title: hosts.length > 1 ? whole : found.title, levels: found.levels};
  }

  /* A side with its data; null without any in its time, which is `shift` seconds earlier. */
  async load(side) {
    const {from, to} = this.view, level = this.view.level(side?.levels ?? [], side?.shift);
    const read = level && await Data.values(side.host, side.service, level.name), own = read && new Level(read, this.page.about);
    return own?.covered({from: from - side.shift, to: to - side.shift}) ? {...side, read, level: own} : null;
  }

  async update() {
    const {turn} = this.page, before = this.before(), sides = [this.side("a"), this.side("b")];
    this.isReady = Boolean(sides[0]);
    this.levels = new Set(sides.flatMap(side => side?.levels ?? []));
    this.mark(sides, before);
    /* The earlier time is on the left. */
    this.sides = (before ? sides.reverse() : sides).map((side, place) => side && {...side, shift: place ? 0 : before});
    const loaded = await Promise.all(this.sides.map(side => this.load(side)));
    /* Another time or side has been chosen meanwhile. */
    if (turn !== this.page.turn)
      return {};
    const isNew = loaded.some((one, place) => one?.read !== this.loaded[place]?.read || one?.shift !== this.loaded[place]?.shift);
    this.loaded = loaded;
    if (isNew)
      this.build();
    this.charts.forEach(chart => chart.setView(this.view));
    this.tell();
    return {hasData: loaded.some(Boolean), isWithin: loaded.some(Boolean)};
  }

  mark(sides, before) {
    const isChosen = [true, this.view.others.get("b") || before];
    this.pickers.forEach(({input}, place) => {
      const side = isChosen[place] && sides[place];
      if (document.activeElement !== input)
        input.value = side ? side.text : "";
    });
    this.buttons.forEach((button, place) => button.ariaPressed = String(EARLIER[place][1] === before));
    if (document.activeElement !== this.earlier)
      this.earlier.value = before && !EARLIER.some(([, seconds]) => seconds === before) ? writeAge(before) : "";
  }

  /* The charts of a side by section and title. */
  charted(side) {
    return new Map((side?.read.sections ?? []).flatMap(({title, charts}) => charts.map(raw => [`${title}: ${raw.title}`, raw])));
  }

  chart(raw, side) {
    const {board} = this.page;
    return raw && board.add(new Chart({...raw, leads: false}, side.level, board, side.shift));
  }

  build() {
    this.page.board.remove(this.charts);
    const sides = this.loaded.map(side => this.charted(side));
    const isShown = name => sides.some(side => side.has(name) && !isZero(side.get(name)));
    const names = [...new Set(sides.flatMap(side => [...side.keys()]))].filter(isShown);
    this.pairs = names.map(name => sides.map((side, place) => this.chart(side.get(name), this.loaded[place])));
    this.pairs.filter(([a, b]) => a && b).forEach(([a, b]) => [a.twin, b.twin] = [b, a]);
    this.charts = this.pairs.flat().filter(Boolean);
    const link = side => side ? make("a", {href: Site.address(Site.service(side.host, side.service))}) : "";
    this.heads = this.loaded.map(side => make("h2", {}, link(side)));
    const none = side => make("p", {class: "soft"}, side ? `${side.title} has no value of this.` : "");
    const shown = pair => make("div", {class: "pair"}, pair.map((chart, place) => chart?.element ?? none(this.loaded[place])));
    this.body.replaceChildren(make("div", {class: "pair heads"}, this.heads), ...this.pairs.map(shown));
  }

  /* A side in words, with its time if both sides are of one service. */
  named(side) {
    const isSame = this.loaded[0]?.title === this.loaded[1]?.title;
    return side.title + (isSame || side.shift ? ` ${this.time(side)}` : "");
  }

  time({shift}) {
    const {from, to, about} = this.view;
    return Clock.range(from - shift, to - shift, about.drawn);
  }

  /* Above both columns and, where there is only one, in each chart. */
  name() {
    this.loaded.forEach((side, place) => {
      if (!side)
        return;
      const named = this.heads[place].firstChild.textContent = this.named(side);
      this.pairs.forEach(pair => pair[place]?.element.setAttribute("data-side", named));
    });
  }

  /* What there is to say in place of differences. */
  missing(found) {
    const [one, other] = this.loaded, empty = this.sides[one ? 1 : 0];
    if (!this.isReady)
      return "Choose a service; then another one, or an earlier time.";
    if (!one || !other)
      return empty.levels.length ? `${empty.title} has no value from ${this.time(empty)}.`
        : `These pages have no service ${empty.title}: choose another one.`;
    if (one.read === other.read && one.shift === other.shift)
      return "Choose another service, or an earlier time.";
    return found.length ? "" : "No difference of 10 % or more.";
  }

  /* Of sides whose time begins before their values. */
  partial() {
    const isLate = ({level, shift}) => level.begin > this.view.from - shift + 2 * level.step;
    const text = side => `${this.named(side)} has values from ${Clock.text(side.level.begin, 0)} only.`;
    return this.loaded.filter(side => side && isLate(side)).map(side => make("p", {class: "old"}, text(side)));
  }

  /* The differences in words, the largest first: above all those of the parts of a request's time. */
  tell() {
    const found = this.pairs.filter(([a, b]) => !(a ?? b).raw.more).flatMap(pair => Difference.of(...pair))
      .sort((a, b) => b.isPart - a.isPart || b.size - a.size);
    const row = ({label, text, title}) =>
      make("li", {}, make("b", {}, label), ` ${text} `, title === label ? "" : make("small", {}, title));
    const words = this.missing(found), rest = words ? [] : found.slice(Comparison.MOST);
    this.name();
    this.body.hidden = !this.isReady;
    this.said.replaceChildren(words, ...this.partial(), ...words ? [] : [
      make("h2", {}, `What differs between ${this.loaded.map(side => this.named(side)).join(" and ")}`),
      make("ul", {}, found.slice(0, Comparison.MOST).map(row))],
    rest.length ? make("details", {}, make("summary", {}, `${rest.length} more`), make("ul", {}, rest.map(row))) : "");
  }
}
Comparison.MOST = 12;
