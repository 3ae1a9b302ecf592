/* SPDX-License-Identifier: MIT
 * The parts of a page: the charts of a service, of a host, and of the layers of a machine, from one data file each. */

/* A part of a page that is made from a data file of a level, and made again for another level. */
class Sheet {
  constructor(page, host, service) {
    Object.assign(this, {page, host, service, data: undefined, charts: []});
    this.element = make("section", {"data-host": host});
    this.happened = make("div");
    const own = page.about.hosts.find(one => one.name === host)?.services ?? [];
    this.levels = new Set(own.filter(one => !service || one.name === service).flatMap(one => one.levels));
  }

  /* Loads what is needed. Returns whether the values of this time are there. */
  async update() {
    const {view, turn} = this.page, level = view.level([...this.levels]);
    const read = level && await Data.values(this.host, this.service, level.name);
    this.events ??= await Data.events(this.host);
    /* Another time has been chosen meanwhile. */
    if (turn !== this.page.turn)
      return {};
    if (read !== this.data || !read)
      this.build(read);
    this.of = this.spanOf(level);
    if (read) {
      this.happened.replaceChildren(Events.list(Events.of(this.events, view, this.service), view));
      this.refresh();
    }
    return {level, hasData: Boolean(read), isWithin: Boolean(level && level.start < view.to && level.end > view.from)};
  }

  /* The span whose tables and sentences are shown: that which is chosen, or the shortest one that is as long. */
  spanOf(level) {
    const {view} = this.page, there = view.about.spans.filter(span => level && span.level === level.name);
    return view.span() ?? there.find(span => span.seconds >= view.seconds) ?? there.at(-1);
  }

  build(read) {
    const {plot, raw} = this.charts.find(({plot}) => plot === document.activeElement) ?? {};
    this.page.board.remove(this.charts);
    this.data = read;
    this.charts = [];
    this.level = read && new Level(read, this.page.about);
    this.element.replaceChildren(...read ? this.parts(read).filter(Boolean) : []);
    /* Who works with keys stays in the same chart. */
    if (plot)
      this.charts.find(chart => chart.raw.title === raw.title)?.plot.focus({preventScroll: true});
  }

  chart(raw) {
    const chart = this.page.board.add(new Chart(raw, this.level, this.page.board));
    chart.events = range => Events.of(this.events, range, this.service);
    this.charts.push(chart);
    return chart.element;
  }

  /* Charts side by side, and the names of those that have nothing but zeros. */
  grid(many) {
    const zero = many.filter(isZero), shown = many.filter(raw => !isZero(raw));
    const said = zero.length === 1 ? "1 graph is zero" : `${zero.length} graphs are zero`, names = zero.map(raw => raw.title);
    return [shown.length ? make("div", {class: "grid"}, shown.map(raw => this.chart(raw))) : null,
            zero.length ? make("details", {class: "zero"}, make("summary", {}, said), names.join(", ")) : null];
  }

  section({title, charts}) {
    const more = charts.filter(raw => raw.more && !isZero(raw)), names = more.map(raw => raw.title).join("; ");
    const folded = () => make("details", {class: "more"}, make("summary", {}, `More: ${names}`), this.grid(more));
    const open = this.grid(charts.filter(raw => !more.includes(raw)));
    return charts.length ? [make("h2", {}, title), ...open, more.length ? folded() : null] : [];
  }

  refresh() {}
}

/* Whether a chart has nothing but zeros, or nothing at all. */
const isZero = ({heat, curves}) => heat ? !heat.rows.some(row => row.some(Boolean))
  : !curves.some(curve => curve.highest || curve.values.some(Boolean));

class ServiceSheet extends Sheet {
  parts({sections}) {
    const first = sections.flatMap(({charts}) => charts).find(raw => raw.leads && !isZero(raw));
    this.flames = make("div");
    const others = sections.map(({title, charts}) => ({title, charts: charts.filter(raw => raw !== first)}));
    return [first && make("div", {class: "grid"}, this.chart(first)), this.happened, ...others.flatMap(one => this.section(one)),
            this.flames];
  }

  refresh() {
    const html = this.data.flames[this.of?.name] ?? "";
    if (html === this.drawn && this.flames.childNodes.length)
      return;
    this.drawn = html;
    this.flames.replaceChildren(...Site.html(html));
    if (html)
      document.head.append(make("script", {src: Site.address("lib/flame.js")}));
  }
}

/* HTML of ebpf-graph for one of its spans. */
class Told {
  constructor() {
    this.element = make("div", {class: "told"});
  }

  /* text: HTML; of: what the rows of its tables are; filter: what their names have to contain */
  show(text, of, filter) {
    if (text === this.text)
      return;
    this.text = text;
    this.element.replaceChildren(...Site.html(text));
    for (const table of this.element.querySelectorAll("table"))
      Tables.prepare(table, of, filter);
  }
}

class HostSheet extends Sheet {
  parts({request_times: times, charts}) {
    this.summary = new Told();
    this.table = new Told();
    const hasTriage = Site.hasTriage(this.page.about, this.host);
    const title = hasTriage ? make("a", {href: Site.address(Site.machine(this.host))}, this.host) : this.host;
    return [make("h2", {id: this.host}, title), this.summary.element, this.table.element,
            times.length ? make("h3", {}, "Where a request's time goes") : null, ...this.grid(times), this.happened,
            charts.length ? make("h3", {}, "Services side by side") : null, ...this.grid(charts), this.devices()];
  }

  devices() {
    const devices = this.page.about.hosts.find(one => one.name === this.host).services.filter(one => one.device);
    const link = ({name, title}) => make("a", {href: Site.address(Site.service(this.host, name))}, title);
    const links = devices.flatMap((one, place) => [place ? ", " : "", link(one)]);
    return links.length ? make("p", {class: "others"}, "Devices, probes and the plugin itself: ", links) : null;
  }

  refresh() {
    const said = this.data.spans[this.of?.name] ?? {table: "", summary: {}};
    this.summary.show(summaryOf(this.data, said, Site.machine(this.host)), "", "");
    this.table.show(said.table, "services", this.page.board.text);
  }
}

class MachineSheet extends Sheet {
  parts({layers}) {
    this.summary = new Told();
    this.told = layers.map(() => new Told());
    return [this.summary.element, this.happened, ...layers.flatMap((layer, place) => [
      make("h2", {id: layer.name}, layer.title), this.told[place].element, ...this.grid(layer.charts)])];
  }

  refresh() {
    const said = this.data.spans[this.of?.name] ?? {layers: {}, summary: {}};
    this.summary.show(summaryOf(this.data, said, ""), "", "");
    this.data.layers.forEach(({name}, place) => this.told[place].show(said.layers[name] ?? "", "rows", this.page.board.text));
  }
}

/* A line for each layer, with a link to its part of the page of the machine. */
const summaryOf = ({layers}, {summary}, page) => {
  const list = make("dl", {class: "triage"}, layers.filter(({name}) => summary[name]).flatMap(({name, title}) =>
    [make("dt", {}, make("a", {href: `${page}#${name}`}, title)), make("dd", {innerHTML: summary[name]})]));
  return list.childNodes.length ? list.outerHTML : "";
};
