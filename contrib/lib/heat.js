/* SPDX-License-Identifier: MIT
 * Heat maps: time to the right, the buckets of a histogram upwards, and the more events a second, the stronger the colour. All
 * rows are equally high, so that buckets of powers of two make a logarithmic axis. */
const BOTTOM = 17;      /* pixels below what is drawn, as dygraphs leaves them for an axis */
const FONT = '11px system-ui, "DejaVu Sans", sans-serif';

class HeatMap {
  /* element: a box of the size of the picture, in the chart's plot; chart: see CHART of data.py, with `heat`; grid: a Level;
   * left: pixels for the labels; table: for those who do not see the picture */
  constructor(element, chart, grid, left, table) {
    Object.assign(this, {element, chart, grid, left, table, heat: chart.heat, height: null});
    this.canvas = element.appendChild(make("canvas", {class: "heat"}));
    this.scale = make("span", {class: "scale"});
    this.text = make("p", {class: "cell"});
    const plot = element.parentNode;
    plot.after(this.legend = make("div", {class: "heated"}, this.scale, this.text));
    /* Before the moment is told to show(). */
    plot.addEventListener("pointermove", event => this.point(event), true);
    plot.addEventListener("pointerleave", () => this.point(null));
    this.sizes = new ResizeObserver(() => this.width && this.width !== element.clientWidth && this.redraw());
    this.sizes.observe(element);
  }

  setView(from, to) {
    this.view = {from, to};
  }

  /* How far up a pointer is, 0 to 1. */
  point(event) {
    const box = this.canvas.getBoundingClientRect();
    this.height = event && 1 - (event.clientY - box.top) / (box.height - BOTTOM);
  }

  /* --- values --- */

  at(index) {
    return this.heat.rows.map(row => row[index] ?? null);
  }

  /* The average of each bucket in the time that is shown; null where it is unknown. */
  averages() {
    const [first, end] = this.grid.range(this.view);
    return this.heat.rows.map(row => {
      const known = row.slice(first, end).filter(isKnown);
      return known.length ? known.reduce((a, b) => a + b, 0) / known.length : null;
    });
  }

  bucket(row) {
    const {bounds, unit} = this.heat, said = bound => isKnown(bound) ? write(bound, unit) : "";
    const low = said(bounds[row]), high = said(bounds[row + 1]);
    return low && high ? `${low} to ${high}` : low ? `above ${low}` : `below ${high}`;
  }

  /* "1 ms to 2 ms: 12.3 per second, 40 % of all": of one bucket, by default of the largest */
  inWords(values, row = values.indexOf(Math.max(...values))) {
    const {unit} = this.chart, value = values[row] ?? 0, all = values.reduce((a, b) => a + (b ?? 0), 0);
    if (!values.some(isKnown))
      return "no values";
    const rate = `${write(value, unit)} ${unit.name}`;
    return all ? `${this.bucket(row)}: ${rate}, ${writePercent(100 * value / all)} of all` : rate;
  }

  /* moment: null when nothing is pointed at */
  show(moment) {
    if (!this.view)
      return;
    const {from, to} = this.view, count = this.heat.rows.length, row = Math.floor(this.height * count);
    const isInside = moment !== null && this.height !== null && row >= 0 && row < count;
    this.text.textContent = moment === null ? `Most: ${this.inWords(this.averages())}`
      : `${Clock.text(moment, to - from, to)}: ${this.inWords(this.at(this.grid.index(moment)), isInside ? row : undefined)}`;
  }

  /* --- drawing --- */

  x(moment) {
    return this.left + (this.width - this.left - RIGHT) * (moment - this.view.from) / (this.view.to - this.view.from);
  }

  y(row) {
    return (this.canvas.clientHeight - BOTTOM) * (1 - row / this.heat.rows.length);
  }

  /* The row, and how much of it, of a value on the axis. */
  row(value) {
    const {bounds} = this.heat, row = bounds.slice(0, -1).findLastIndex(bound => (bound ?? -Infinity) <= value);
    const [low, high] = [bounds[row], bounds[row + 1]], place = low > 0 ? Math.log : Number;
    return isKnown(low) && high > low ? row + (place(value) - place(low)) / (place(high) - place(low)) : row;
  }

  /* share: of the highest value, above 0. The cube root shows a thousandth and still tells halves apart. */
  color(share) {
    const strength = Math.cbrt(share);
    return Theme.isDark() ? `hsl(204 80% ${18 + 70 * strength}%)` : `hsl(204 85% ${94 - 74 * strength}%)`;
  }

  redraw() {
    const {canvas, element} = this, ratio = window.devicePixelRatio || 1;
    this.width = element.clientWidth;
    canvas.width = Math.round(this.width * ratio);
    canvas.height = Math.round(element.clientHeight * ratio);
    const context = canvas.getContext("2d");
    this.drawAxes(context, ratio);
    this.drawCells(context, ratio);
    this.show(null);
    this.describe();
  }

  /* In whole pixels of the screen, so that neighbours neither overlap nor leave a gap. */
  drawCells(context, ratio) {
    const {heat, grid, view} = this, [first, end] = grid.range(view), pixel = place => Math.round(place * ratio);
    const rows = heat.rows.map(row => row.slice(first, end)), most = Math.max(0, ...rows.flat().filter(isKnown));
    context.setTransform(1, 0, 0, 1, 0, 0);
    rows.forEach((row, place) => row.forEach((value, index) => {
      if (!value)
        return;
      const time = grid.time(first + index), top = pixel(this.y(place + 1));
      const left = pixel(this.x(Math.max(time - grid.step, view.from))), right = pixel(this.x(Math.min(time, view.to)));
      context.fillStyle = this.color(value / most);
      context.fillRect(left, top, Math.max(1, right - left), pixel(this.y(place)) - top);
    }));
    this.drawScale(most);
  }

  drawAxes(context, ratio) {
    const {heat, view} = this, inner = this.width - this.left - RIGHT, base = this.y(0);
    const known = heat.bounds.filter(isKnown), labels = Axis.of(known, {log: true, unit: heat.unit, top: 0}).labels;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    Object.assign(context, {font: FONT, fillStyle: Theme.of("soft"), strokeStyle: Theme.of("grid")});
    const line = (x, y, right, down) => context.strokeRect(Math.round(x) + 0.5, Math.round(y) + 0.5, right, down);
    Object.assign(context, {textAlign: "right", textBaseline: "middle"});
    for (const value of labels.filter(one => one >= Math.min(...known) && one <= Math.max(...known))) {
      const y = this.y(this.row(value));
      line(this.left, y, inner, 0);
      context.fillText(writeTick(value, heat.unit), this.left - 6, Math.min(Math.max(y, 6), base));
    }
    Object.assign(context, {textAlign: "center", textBaseline: "bottom"});
    for (const [moment, text] of TimeAxis.labels(view, inner)) {
      const x = this.x(moment);
      line(x, 0, 0, base);
      /* As in plot.js. */
      context.fillText(x < this.left + 18 ? "" : text, x, base + BOTTOM);
    }
  }

  /* What the colours mean. */
  drawScale(most) {
    const shown = most ? [0.001, 0.01, 0.1, 1] : [];
    this.scale.replaceChildren(...shown.map(share => make("span", {}, make("i", {style: `background: ${this.color(share)}`}),
      write(most * share, this.chart.unit))), most ? this.chart.unit.name : "");
  }

  /* For those who do not see it: what is most, and a table. */
  describe() {
    const {grid, heat} = this, [first, end] = grid.range(this.view), rows = [];
    const stride = Math.max(1, Math.ceil((end - first) / HeatMap.ROWS));
    this.element.parentNode.ariaLabel = `${this.chart.title}. ${this.text.textContent}`;
    for (let index = first; index < end; index += stride)
      rows.push(make("tr", {}, make("th", {scope: "row"}, Clock.stamp(grid.time(index)).replace("T", " ")),
                     this.at(index).map(value => make("td", {}, write(value, this.chart.unit)))));
    const heads = heat.rows.map((_, row) => make("th", {scope: "col"}, this.bucket(row)));
    this.table.replaceChildren(make("caption", {}, `${this.chart.title}, ${this.chart.unit.name}`),
      make("thead", {}, make("tr", {}, make("th", {scope: "col"}, "time"), heads)), make("tbody", {}, rows));
  }

  remove() {
    this.sizes.disconnect();
    this.canvas.remove();
    this.legend.remove();
  }
}
HeatMap.ROWS = 12;
