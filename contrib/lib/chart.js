/* SPDX-License-Identifier: MIT
 * Charts that answer. All charts of a span show the values at the time that is pointed at, in their legends, in place of the
 * last ones; what is dragged over fills the width of all of them; what is pressed in a legend stands out wherever it is.
 * Keys, where a chart has the focus: arrows move the time, + and - show less and more of it, Escape shows the whole. */
const write = (value, unit) => {
  const power = number => {
    if (number === 0 || Math.abs(number) >= 0.01 && Math.abs(number) < 1000)
      return String(Number(number.toPrecision(3)));
    const [digits, exponent] = number.toExponential(1).split("e");
    const raised = [...String(Number(exponent))].map(one => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(one)]).join("");
    return (digits === "1.0" ? "" : digits.replace(/\.0$/, "") + "×") + "10" + raised;
  };
  const digits = number => {
    const size = Math.abs(number);
    if (size >= 1e6)
      return number.toExponential(1).replace(/\.0e/, "e");
    if (number > 0 && number < 0.005)
      return "<0.01";
    if (size >= 99.95 || Math.abs(size - Math.round(size)) <= 5e-4 * size)
      return number.toFixed(0);
    return number.toFixed(size >= 9.995 ? 1 : 2);
  };
  if (value === null || value === undefined)
    return unit.unknown;
  const none = unit.prefixes.indexOf(" ");
  let size = Math.abs(value), place = none;
  while (!unit.exponent && size >= unit.base - 0.5 && place < unit.prefixes.length - 1) {
    size /= unit.base;
    place++;
  }
  while (!unit.exponent && unit.small && size > 0 && size < 0.9995 && place > 0) {
    size *= unit.base;
    place--;
  }
  const letter = unit.prefixes[place].trim();
  const prefix = unit.base === 1024 && place > none ? letter.toUpperCase() + "i" : letter;
  const number = unit.exponent ? power(value) : digits(Math.sign(value) * size);
  return number + (prefix + unit.symbol ? unit.space + prefix + unit.symbol : "");
};

class Chart {
  constructor(figure, all) {
    this.figure = figure;
    this.plot = figure.querySelector(".plot");
    this.svg = this.plot.querySelector("svg");
    this.box = this.svg.viewBox.baseVal;
    this.size = {width: this.box.width, height: this.box.height};
    this.line = this.plot.appendChild(document.createElement("b"));
    this.line.hidden = true;
    this.rows = [...figure.querySelectorAll("tr[data-of]")];
    this.cells = this.rows.map(row => row.cells[1]);
    this.last = this.cells.map(cell => cell.textContent);
    this.heading = figure.querySelector(".legend tr").cells[1];
    this.labels = [...this.plot.querySelectorAll(".x")];
    this.all = all;
    this.plot.tabIndex = 0;
  }

  /* Read when they are first asked for: a page has many charts. */
  get data() {
    return this.read ??= JSON.parse(this.figure.querySelector("script").textContent);
  }

  /* Each value is about the time before its moment. */
  at(of, moment) {
    const {first, step, values} = this.data.curves[of];
    return values[Math.ceil((moment - first) / step)];
  }

  show(moment) {
    const {start, end} = this.all.view;
    this.line.hidden = moment === null;
    this.heading.textContent = moment === null ? "last" : this.all.clock(moment, 1);
    if (moment !== null)
      this.line.style.left = 100 * (moment - start) / (end - start) + "%";
    this.rows.forEach((row, place) => {
      this.cells[place].textContent = moment === null ? this.last[place] : write(this.at(row.dataset.of, moment), this.data.unit);
    });
  }

  zoom({start, end}, whole, ticks) {
    const scale = this.size.width / (whole.end - whole.start);
    this.svg.setAttribute("viewBox", `${(start - whole.start) * scale} 0 ${(end - start) * scale} ${this.size.height}`);
    for (const label of this.plot.querySelectorAll(".x"))
      label.remove();
    if (!ticks)
      return this.plot.append(...this.labels);
    for (const [place, text] of ticks) {
      const label = this.plot.appendChild(document.createElement("span"));
      label.className = "x";
      label.style.left = 100 * place + "%";
      label.textContent = text;
    }
  }

  /* names: of those that stand out; others stay where none of them is here */
  mark(names) {
    const found = this.rows.filter(row => names.has(row.cells[0].textContent));
    for (const one of this.figure.querySelectorAll("[data-of]")) {
      const name = this.rows.find(row => row.dataset.of === one.dataset.of).cells[0].textContent;
      one.classList.toggle("dim", found.length > 0 && !names.has(name));
      one.classList.toggle("chosen", one.nodeName === "TR" && names.has(name));
    }
  }
}

/* All charts of a span of time. */
class Charts {
  constructor(span, time, figures) {
    const {start, end, offset, steps} = JSON.parse(time);
    this.whole = this.view = {start, end};
    this.offset = offset;
    this.steps = steps;
    this.when = span.querySelector(".when");
    this.said = this.when.textContent;
    this.charts = figures.map(figure => new Chart(figure, this));
    this.moment = this.beside = null;
    for (const chart of this.charts)
      this.listen(chart);
  }

  /* As the machine that has drawn the page tells the time. */
  clock(moment, step) {
    const text = new Date((moment + this.offset) * 1000).toISOString();
    const days = this.whole.end - this.whole.start > 86400 && step < 86400 ? text.slice(5, 10) + " " : "";
    return step >= 86400 ? text.slice(5, 10) : days + text.slice(11, step < 60 && !days ? 19 : 16);
  }

  ticks() {
    const {start, end} = this.view;
    const step = this.steps.find(step => (end - start) / step <= 5) ?? this.steps.at(-1), found = [];
    for (let moment = Math.ceil((start + this.offset) / step) * step - this.offset; moment <= end; moment += step)
      found.push([(moment - start) / (end - start), this.clock(moment, step)]);
    return found;
  }

  /* Those beside show the same distance from their begin. */
  show(moment, alone = false) {
    this.moment = moment;
    this.charts.forEach(chart => chart.show(moment));
    if (this.beside && !alone)
      this.beside.show(moment && moment - this.whole.start + this.beside.whole.start, true);
  }

  zoom(start, end, alone = false) {
    if (this.beside && !alone)
      this.beside.zoom(...[start, end].map(one => one - this.whole.start + this.beside.whole.start), true);
    start = Math.max(start, this.whole.start);
    end = Math.min(end, this.whole.end);
    if (end - start < 4)
      return;
    const whole = end - start >= this.whole.end - this.whole.start;
    this.view = whole ? this.whole : {start, end};
    const ticks = whole ? null : this.ticks();
    this.charts.forEach(chart => chart.zoom(this.view, this.whole, ticks));
    if (alone)
      return this.show(null, true);
    this.when.textContent = whole ? this.said : `${this.clock(start, 1)} to ${this.clock(end, 1)} `;
    if (!whole) {
      const button = this.when.appendChild(document.createElement("button"));
      button.textContent = "Whole time";
      button.onclick = () => this.reset();
    }
    this.show(null);
  }

  reset() {
    this.zoom(this.whole.start, this.whole.end);
  }

  listen(chart) {
    let from = null, chosen = null;
    const moment = event => {
      const box = chart.plot.getBoundingClientRect(), place = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
      return this.view.start + place * (this.view.end - this.view.start);
    };
    const drop = () => {
      chosen?.remove();
      from = chosen = null;
    };
    chart.plot.onpointerdown = event => {
      from = event.clientX;
      chosen = chart.plot.appendChild(document.createElement("s"));
      chosen.dataset.from = moment(event);
      if (event.isTrusted)
        chart.plot.setPointerCapture(event.pointerId);
      this.show(moment(event));
    };
    chart.plot.onpointermove = event => {
      if (chosen) {
        const box = chart.plot.getBoundingClientRect(), ends = [from, event.clientX].map(x => Math.min(box.right, Math.max(box.left, x)));
        chosen.style.left = Math.min(...ends) - box.left + "px";
        chosen.style.width = Math.abs(ends[1] - ends[0]) + "px";
      }
      this.show(moment(event));
    };
    chart.plot.onpointerup = event => {
      const wide = chosen && Math.abs(event.clientX - from) > 8, ends = chosen && [Number(chosen.dataset.from), moment(event)];
      drop();
      if (wide)
        this.zoom(Math.min(...ends), Math.max(...ends));
    };
    chart.plot.onpointercancel = drop;
    chart.plot.onpointerleave = event => {
      if (event.pointerType !== "touch" && !chosen)
        this.show(null);
    };
    chart.plot.ondblclick = () => this.reset();
    chart.plot.onkeydown = event => this.press(event);
  }

  press(event) {
    const {start, end} = this.view, way = {ArrowLeft: -1, ArrowRight: 1}[event.key], at = this.moment ?? end;
    const scale = {"+": 0.5, "-": 2}[event.key];
    if (way)
      this.show(Math.min(end, Math.max(start, at + way * (end - start) / 100)));
    else if (scale)
      this.zoom(at - (at - start) * scale, at + (end - at) * scale);
    else if (event.key === "Escape")
      this.reset();
    else
      return;
    event.preventDefault();
  }
}

const spans = [...document.querySelectorAll(".span")].flatMap(span => {
  const figures = [...span.querySelectorAll("figure:has(> .plot)")], pairs = span.querySelector(".pairs");
  const main = new Charts(span, span.dataset.time, figures.filter(figure => !figure.closest(".beside")));
  if (!pairs)
    return [main];
  main.beside = new Charts(span, pairs.dataset.time, figures.filter(figure => figure.closest(".beside")));
  main.beside.beside = main;
  return [main, main.beside];
}), chosen = new Set();
const choose = name => {
  if (!chosen.delete(name))
    chosen.add(name);
  for (const {charts} of spans)
    charts.forEach(chart => chart.mark(chosen));
};
for (const row of document.querySelectorAll(".legend tr[data-of]")) {
  const head = row.cells[0], box = head.querySelector("i");
  head.onclick = event => event.target.nodeName === "A" || choose(head.textContent);
  if (box) {
    box.tabIndex = 0;
    box.role = "button";
    box.ariaLabel = `${head.textContent}: make it stand out`;
    box.onkeydown = event => (event.key === "Enter" || event.key === " ") && (event.preventDefault(), choose(head.textContent));
  }
}
