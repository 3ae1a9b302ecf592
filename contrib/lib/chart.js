/* SPDX-License-Identifier: MIT
 * A chart: its title and what it says in words, the picture, the legend, and a table for those who do not see the picture. */
class Chart {
  /* raw: see CHART of data.py; level: a Level; board: of the page. shift: seconds by which it shows an earlier time */
  constructor(raw, level, board, shift = 0) {
    Object.assign(this, {raw, level, board, shift, unit: raw.unit, isDrawn: false, isNear: false, events: () => []});
    this.curves = (raw.curves ?? []).map(curve => new Curve(curve, level));
    this.samples = raw.samples && new Curve({label: "samples", values: raw.samples}, level);
    this.labels = this.curves.map(curve => curve.label);
    this.build();
  }

  build() {
    const {raw} = this;
    this.said = make("strong");
    this.basis = make("small");
    this.canvas = make("div", {class: "canvas"});
    this.plot = make("div", {class: "plot", tabIndex: 0, role: "img"}, this.canvas, this.cover = make("div", {class: "cover"}));
    this.table = make("div", {class: window.Dygraph ? "unseen" : "values"});
    this.legend = this.curves.length ? new Legend(this) : null;
    const title = raw.link ? make("a", {href: Site.address(raw.link)}, raw.title) : raw.title;
    this.element = make("figure", {class: [raw.parts && "parts", raw.leads && "leads"].filter(Boolean).join(" ")},
      make("figcaption", {}, make("span", {}, title, " ", make("small", {}, raw.unit.name)), this.help(), this.said, this.basis),
      window.Dygraph || raw.heat ? this.plot : "",
      make("div", {class: "beside"}, this.legend?.element, this.others(), this.table));
    this.picture = raw.heat ? new HeatMap(this.canvas, raw, this.level, LEFT, this.table) : new Plot(this.canvas);
    this.pointer = new Pointer(this.cover, () => this.range, {
      show: moment => this.board.show(moment === null ? null : moment + this.shift), reset: () => this.board.reset(),
      zoom: (from, to) => this.board.zoom(from + this.shift, to + this.shift),
      step: (way, from, to) => this.board.step(way, from + this.shift, to + this.shift),
      scale: (scale, from, to) => this.board.scale(scale, from + this.shift, to + this.shift)});
  }

  help() {
    const {help, doc} = this.raw;
    return help || doc ? make("details", {class: "help"}, make("summary", {"aria-label": `What ${this.raw.title} means`}, "?"),
      make("p", {}, help, doc ? [" ", make("a", {href: Site.address(doc)}, "More")] : "")) : "";
  }

  others() {
    const {others = []} = this.raw, name = ({label, link}) => link ? make("a", {href: Site.address(link)}, label) : label;
    return others.length ? make("details", {class: "rest"}, make("summary", {}, `${others.length} more`),
      others.flatMap((one, place) => [place ? ", " : "", name(one)])) : "";
  }

  shown() {
    return this.curves.filter(curve => this.board.isShown(curve.label, this.labels));
  }

  /* {from, to}: of the page */
  setView({from, to}) {
    this.range = {from: from - this.shift, to: to - this.shift};
    this.isDrawn = false;
  }

  /* {first, layers}: of the curves that are drawn {curve, below, values}, the lowest first. The values begin with that of the
   * index `first`; those of a stack are on top of one another. A gap is where all of a stack are unknown. */
  layers() {
    const drawn = this.shown().filter(curve => curve.draw !== "figures"), [begin, end] = this.level.range(this.range);
    const first = Math.max(0, begin - 1), length = end + 1 - first;
    const cut = curve => Array.from({length}, (_, place) => curve.values[first + place] ?? null);
    const stack = drawn.filter(curve => curve.draw === "stack")
      .map((curve, place) => ({curve, below: place - 1, values: cut(curve)}));
    stack.forEach((layer, place) => {
      layer.values = layer.values.map((value, index) => stack.some(one => isKnown(one.values[index]))
        ? (stack[place - 1]?.values[index] ?? 0) + (value ?? 0) : null);
    });
    const others = isArea => drawn.filter(curve => curve.draw !== "stack" && (curve.draw === "area") === isArea)
      .map(curve => ({curve, below: null, values: cut(curve)}));
    return {first, layers: [...stack, ...others(true), ...others(false)]};
  }

  /* The values that the axis has to cover: of a line above parts no more than ABOVE times their height. */
  extent() {
    const {layers} = this.layers(), stack = layers.filter(layer => layer.below !== null).at(-1)?.values.filter(isKnown) ?? [];
    const height = this.raw.parts ? Chart.ABOVE * stack.reduce((a, b) => Math.max(a, b), 0) || Infinity : Infinity;
    return layers.flatMap(({values}) => values.filter(isKnown).map(value => Math.min(value, height)));
  }

  /* Draws what is shown if the chart is near to what can be seen. Both of a pair have one axis. */
  draw() {
    if (this.isDrawn || !this.isNear)
      return;
    this.isDrawn = true;
    if (this.raw.heat) {
      this.picture.setView(this.range.from, this.range.to);
      this.picture.redraw();
    } else if (window.Dygraph) {
      const {first, layers} = this.layers(), scale = Axis.of([this, this.twin].flatMap(one => one?.extent() ?? []), this.raw);
      this.picture.draw(layers, first, this.level, scale, this.range, this.unit);
      this.say(scale);
    } else {
      this.say({high: Infinity});
    }
    this.legend?.update();
    this.pointer.show(null);
    this.pointer.mark(this.events(this.range));
    this.fill();
  }

  /* The largest part, and how far a line above the axis goes, beside the title; and the last values for those who hear. */
  say(axis) {
    const {raw, range, unit} = this, shown = this.shown();
    const shares = raw.parts ? Parts.shares(this.curves, range, unit.adds) : [], isOld = this.samples?.last(range).isOld;
    const above = shown.filter(({draw}) => ["line", "dashes", "dotted"].includes(draw))
      .filter(curve => curve.shownMaximum(range) > axis.high * (1 + 1e-9))
      .map(curve => `${curve.label} up to ${write(curve.maximum(range), unit)}`);
    const parts = isOld ? "" : Parts.inWords(shares);
    this.said.textContent = [parts, ...above].filter(Boolean).join("; ");
    const basis = parts && this.samples ? Parts.basis(this.samples, range) : "";
    this.basis.textContent = basis && `(${basis})`;
    const last = shown.map(curve => `${curve.label} ${write(curve.last(range).value, unit)}`).join(", ");
    const title = [raw.title, unit.name].filter(Boolean).join(", ");
    this.plot.ariaLabel = [title, this.said.textContent, `Last: ${last}`].filter(Boolean).join(". ");
  }

  /* moment: of the page; null: the last values */
  show(moment) {
    const own = moment === null ? null : moment - this.shift;
    this.pointer.show(own);
    if (this.raw.heat)
      this.picture.show(own);
    this.legend?.show(own);
  }

  /* The table of values, of at most so many times. */
  fill() {
    if (!this.curves.length)
      return;
    const [first, end] = this.level.range(this.range), stride = Math.max(1, Math.ceil((end - first) / Chart.ROWS)), rows = [];
    for (let index = first; index < end; index += stride)
      rows.push(make("tr", {}, make("th", {scope: "row"}, Clock.stamp(this.level.time(index)).replace("T", " ")),
                     this.curves.map(curve => make("td", {}, write(curve.values[index], this.unit)))));
    const heads = ["time", ...this.labels].map(label => make("th", {scope: "col"}, label));
    this.table.replaceChildren(make("table", {}, make("caption", {}, `Values of ${this.raw.title}`),
      make("thead", {}, make("tr", {}, heads)), make("tbody", {}, rows)));
  }

  remove() {
    this.picture.remove?.();
  }
}
Chart.ABOVE = 4;
Chart.ROWS = 12;
