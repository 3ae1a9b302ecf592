/* SPDX-License-Identifier: MIT
 * All charts of a page: they show one time and the values at one moment, and the same names are hidden in all of them. Only
 * those near to what can be seen are drawn. */
class Board {
  /* change: function that does something to the view, and updates the page */
  constructor(view, change) {
    Object.assign(this, {view, change, charts: [], only: null, text: "", hidden: new Set(), moment: null});
    this.status = make("p", {class: "status", hidden: true});
    this.spoken = make("output", {class: "unseen", ariaLive: "polite"});
    const approach = entries => entries.forEach(({target, isIntersecting}) => this.approach(target.chart, isIntersecting));
    this.observer = new IntersectionObserver(approach, {rootMargin: "300px 0px"});
    Theme.dark.addEventListener("change", () => this.redraw());
    addEventListener("beforeprint", () => this.print());
    addEventListener("afterprint", () => this.endPrint());
    addEventListener("keydown", event => event.key === "Escape" && !event.target.closest?.("input, .flame") && this.reset());
  }

  add(chart) {
    this.charts.push(chart);
    chart.setView(this.view);
    chart.element.chart = chart;
    this.observer.observe(chart.element);
    return chart;
  }

  remove(charts) {
    this.charts = this.charts.filter(chart => !charts.includes(chart));
    charts.forEach(chart => {
      this.observer.unobserve(chart.element);
      chart.remove();
    });
  }

  approach(chart, isNear) {
    chart.isNear = isNear;
    chart.draw();
    if (isNear && this.moment !== null)
      chart.show(this.moment);
  }

  /* On paper all charts are drawn, in light colours. */
  print() {
    document.documentElement.dataset.theme = "light";
    this.near = new Set(this.charts.filter(chart => chart.isNear));
    this.charts.forEach(chart => chart.isNear = true);
    this.redraw();
  }

  endPrint() {
    delete document.documentElement.dataset.theme;
    this.charts.forEach(chart => chart.isNear = this.near.has(chart));
    this.redraw();
  }

  redraw() {
    const tops = this.charts.map(({element}) => element.getBoundingClientRect());
    this.charts.forEach((chart, place) => {
      const {top, bottom, height} = tops[place];
      chart.isNear ||= height > 0 && top < innerHeight && bottom > 0;
      chart.setView(this.view);
      chart.draw();
    });
    this.moment = null;
    this.tell();
  }

  /* --- names --- */

  matches(label) {
    return hasWords(label, this.text);
  }

  /* A name that is chosen hides others where it is itself. labels: all of a chart */
  isShown(label, labels) {
    if (this.hidden.has(label))
      return false;
    if (this.only !== null && labels.includes(this.only))
      return label === this.only;
    return !this.text || this.matches(label) || !labels.some(one => this.matches(one));
  }

  choose(label) {
    this.only = this.only === label ? null : label;
    this.hidden.delete(label);
    this.redraw();
  }

  hide(label) {
    if (!this.hidden.delete(label))
      this.hidden.add(label);
    if (this.only !== null) {
      this.only = null;
      this.hidden.delete(label);
    }
    this.redraw();
  }

  find(text) {
    this.text = text;
    this.redraw();
  }

  /* What is not shown, in words. */
  tell() {
    const hidden = [...this.hidden], words = [this.only !== null && `Only “${this.only}” is shown.`,
      hidden.length && `Hidden: ${hidden.slice(0, 5).join(", ")}${hidden.length > 5 ? ` and ${hidden.length - 5} more` : ""}.`];
    this.status.hidden = !words.some(Boolean);
    const button = make("button", {onclick: () => this.showAll()}, "Show all");
    this.status.replaceChildren(words.filter(Boolean).join(" ") + " ", button);
  }

  showAll() {
    this.only = null;
    this.hidden.clear();
    this.redraw();
  }

  /* --- time --- */

  /* moment: null for the last values */
  show(moment) {
    this.moment = moment;
    this.charts.filter(chart => chart.isNear && chart.isDrawn).forEach(chart => chart.show(moment));
  }

  zoom(from, to) {
    const {view} = this, {levels} = view.about;
    from = Math.max(from, Math.min(view.from, ...levels.map(level => level.start)));
    to = Math.min(to, Math.max(view.to, ...levels.map(level => level.end)));
    if (to - from >= 10)
      this.change(() => this.view.zoom(from, to));
  }

  reset() {
    this.change(() => this.view.reset());
  }

  step(way, from, to) {
    this.show(Math.min(to, Math.max(from, (this.moment ?? to) + way * (to - from) / 100)));
    const chart = this.charts.find(({plot}) => plot === document.activeElement);
    this.spoken.textContent = `${Clock.text(this.moment, to - from, to)}: ` + (chart?.shown() ?? [])
      .map(curve => `${curve.label} ${write(curve.at(this.moment - chart.shift), chart.unit)}`).join(", ");
  }

  scale(scale, from, to) {
    const at = this.moment ?? to;
    this.zoom(at - (at - from) * scale, at + (to - at) * scale);
  }
}
