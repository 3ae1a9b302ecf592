/* SPDX-License-Identifier: MIT
 * The legend of a chart: of each curve the last value, the average and the maximum in the time that is shown, or all values
 * at the time that is pointed at. A press on a name shows only that curve, a press on its colour hides it. */
class Legend {
  constructor(chart) {
    this.chart = chart;
    this.heading = make("th", {scope: "col"}, "last");
    this.rows = chart.curves.map(curve => this.row(curve));
    const {parts} = chart.raw, head = ["average", parts ? "share" : "maximum"].map(text => make("th", {scope: "col"}, text));
    /* The order of a stack, from the top. */
    const rows = parts ? [...this.rows].reverse() : this.rows;
    this.element = make("table", {class: "legend"}, make("thead", {}, make("tr", {}, make("td"), this.heading, head)),
                        make("tbody", {}, rows.map(row => row.element)));
  }

  row(curve) {
    const {board} = this.chart, {label, draw, link} = curve, cells = [1, 2, 3].map(() => make("td")), note = make("small");
    const box = draw === "figures" ? "" : make("button", {class: `box ${draw}`, onclick: () => board.hide(label)});
    /* A long name may be wrapped after these. */
    const parts = label.split(/(?<=[_.:/-])/).flatMap(part => [part, make("wbr")]);
    const name = make("button", {class: "name", onclick: () => board.choose(label)}, parts), page = `The page of ${label}`;
    const to = link ? make("a", {href: Site.address(link), "aria-label": page, title: page}, "›") : "";
    const key = make("th", {scope: "row"}, make("span", {class: "key"}, box, name, to, note));
    return {curve, box, name, note, cells, element: make("tr", {}, key, cells)};
  }

  /* The figures of the time that is shown. */
  update() {
    const {chart} = this, {range, unit, raw} = chart, shown = chart.shown();
    const shares = new Map(raw.parts ? Parts.shares(chart.curves, range, unit.adds) : []);
    for (const row of this.rows) {
      const {curve} = row, isShown = shown.includes(curve);
      const average = curve.percentile ? UNKNOWN : write(curve.average(range, unit.adds), unit);
      const share = shares.has(curve.label) ? writePercent(shares.get(curve.label)) : "";
      row.last = this.last(curve);
      row.cells[1].textContent = average;
      row.cells[2].textContent = raw.parts ? share : write(curve.maximum(range), unit);
      this.mark(row, isShown);
    }
    this.show(null);
  }

  last(curve) {
    const {range, unit, raw} = this.chart, {value, age, isOld} = curve.last(range);
    if (!isKnown(value) || raw.parts && isOld)
      return UNKNOWN;
    return write(value, unit) + (isOld ? `, ${writeAge(age)}${NBSP}ago` : "");
  }

  mark(row, isShown) {
    const {curve, box, name} = row, {board} = this.chart;
    row.element.className = isShown ? "" : "hidden";
    row.note.textContent = isShown ? "" : " hidden";
    const isOnly = board.only === curve.label;
    name.ariaPressed = String(isOnly);
    name.title = isOnly ? "Show all again" : `Show only ${curve.label}`;
    if (!box)
      return;
    box.ariaPressed = String(isShown);
    box.ariaLabel = box.title = `${isShown ? "Hide" : "Show"} ${curve.label}`;
    box.style.setProperty("--color", Theme.paint(curve.color, curve.draw === "stack" || curve.draw === "area"));
  }

  /* moment: null for the last values */
  show(moment) {
    const {range, unit} = this.chart;
    this.heading.textContent = moment === null ? "last" : Clock.text(moment, range.to - range.from, range.to);
    for (const {curve, cells, last} of this.rows)
      cells[0].textContent = moment === null ? last : write(curve.at(moment), unit);
  }
}
