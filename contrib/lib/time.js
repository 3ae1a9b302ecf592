/* SPDX-License-Identifier: MIT
 * Times as the machine that has drawn the pages tells them, and the bar at the top: spans, earlier and later, from and to. */
const MINUTE = 60, HOUR = 3600, DAY = 86400;

const Clock = {
  offset: 0,    /* seconds from UTC to that machine's time */

  iso(moment) {
    return new Date((moment + Clock.offset) * 1000).toISOString();
  },

  /* 2026-11-27T03:10:00 */
  stamp(moment) {
    return Clock.iso(Math.round(moment)).slice(0, 19);
  },

  /* Parts of a date, in English: see Intl.DateTimeFormat. */
  date(moment, parts) {
    return new Date((moment + Clock.offset) * 1000).toLocaleDateString("en-GB", {timeZone: "UTC", ...parts});
  },

  day(moment) {
    return Clock.date(moment, {day: "numeric", month: "short"});
  },

  isSameDay(one, other) {
    return Clock.iso(one).slice(0, 10) === Clock.iso(other).slice(0, 10);
  },

  /* 27 Nov 03:10:00; without seconds in a long range, without the day if it is that of `near` */
  text(moment, range, near) {
    const time = Clock.iso(moment).slice(11, range <= 6 * HOUR ? 19 : 16);
    return near !== undefined && Clock.isSameDay(moment, near) ? time : `${Clock.day(moment)} ${time}`;
  },

  /* 27 Nov 02:10:00 to 03:10:00 */
  range(from, to, near) {
    return `${Clock.text(from, to - from, Clock.isSameDay(near, to) ? to : undefined)} to ${Clock.text(to, to - from, from)}`;
  },

  /* Seconds since 1970 of a time as typed; without a day, of that of `near`. NaN if it is none. */
  read(text, near) {
    const found = /^(?:(\d{4}-\d\d-\d\d)(?:[T ]|$))?(?:(\d\d?:\d\d)(:\d\d)?)?$/.exec(text.trim());
    if (!found || !text.trim())
      return NaN;
    const [, day = Clock.iso(near).slice(0, 10), time = "00:00", seconds = ":00"] = found;
    return Date.parse(`${day}T${time.padStart(5, "0")}${seconds}Z`) / 1000 - Clock.offset;
  },
};

const TimeAxis = {
  /* Steps between labels. */
  STEPS: [1, 2, 5, 10, 15, 30, ...[1, 2, 5, 10, 15, 30].map(one => one * MINUTE), ...[1, 2, 3, 4, 6, 12].map(one => one * HOUR),
          DAY, 2 * DAY, 7 * DAY, 14 * DAY],

  label(moment, step) {
    const local = moment + Clock.offset, text = Clock.iso(moment);
    if (step >= 2 * DAY || step < DAY && local % DAY === 0)
      return Clock.day(moment);
    if (step === DAY)
      return Clock.date(moment, {weekday: "short"});
    return text.slice(11, step < MINUTE ? 19 : 16);
  },

  months({from, to}, most) {
    const begin = new Date((from + Clock.offset) * 1000), count = (to - from) / (30.4 * DAY), found = [];
    const stride = [1, 2, 3, 4, 6, 12].find(one => count / one <= most) ?? 12 * Math.ceil(count / 12 / most);
    const first = begin.getUTCFullYear() * 12 + begin.getUTCMonth() + 1;
    for (let month = Math.ceil(first / stride) * stride; ; month += stride) {
      const moment = Date.UTC(Math.floor(month / 12), month % 12, 1) / 1000 - Clock.offset;
      if (moment > to)
        return found;
      found.push([moment, Clock.date(moment, {month: "short", ...month % 12 === 0 && {year: "numeric"}})]);
    }
  },

  /* [[moment, text]] of labels at full hours and days, as many as there is room for. width: pixels */
  labels({from, to}, width) {
    const room = step => Math.max(2, Math.floor(width / (step < MINUTE ? 75 : 58)));
    const step = TimeAxis.STEPS.find(step => (to - from) / step <= room(step)), found = [];
    if (!step)
      return TimeAxis.months({from, to}, room(DAY));
    for (let moment = Math.ceil((from + Clock.offset) / step) * step - Clock.offset; moment <= to; moment += step)
      found.push([moment, TimeAxis.label(moment, step)]);
    return found;
  },
};

/* The time that is shown. It is in the page's address, where links to the page may set it. */
class View {
  /* changed: called after each change */
  constructor(about, changed) {
    this.about = about;
    this.changed = changed;
    this.others = new Map();    /* what else the address says */
    this.read();
    /* A link within the page leads to a part of it, and leaves the time alone. */
    addEventListener("hashchange", () => {
      const before = this.address(false);
      this.read();
      if (this.address(false) === before)
        this.write();
      else
        this.changed();
    });
  }

  get seconds() {
    return this.to - this.from;
  }

  span() {
    return this.about.spans.find(span => span.name === this.name);
  }

  levelOf(span) {
    return this.about.levels.find(level => level.name === span.level);
  }

  /* A span ends where the data do, and begins no earlier than the first reading. */
  choose(name) {
    const span = this.about.spans.find(span => span.name === name) ?? this.about.spans[0], level = this.levelOf(span);
    this.base = null;
    this.name = span.name;
    this.to = level.end;
    this.from = Math.max(level.end - span.seconds, Math.min(level.first ?? -Infinity, level.end - 10));
    this.isFirst = this.from > level.end - 0.9 * span.seconds;
  }

  set(from, to) {
    this.name = this.base = null;
    [this.from, this.to] = [from, to].map(Math.round);
  }

  /* To a part of what was chosen, to which reset() goes back. */
  zoom(from, to) {
    const base = this.base ?? this.state();
    this.set(from, to);
    this.base = base;
  }

  /* What was chosen before all zooms; without a zoom the shortest span with all of the time. */
  reset() {
    const {spans} = this.about, {base} = this, around = spans.find(span => this.levelOf(span).end - span.seconds <= this.from);
    if (base && !base.name)
      this.set(base.from, base.to);
    else
      this.choose((base ?? this).name ?? (around ?? spans.at(-1)).name);
  }

  state() {
    return {name: this.name, from: this.from, to: this.to};
  }

  /* Reads the address. */
  read() {
    const words = new URLSearchParams(location.hash.slice(1));
    const [from, to] = ["from", "to"].map(word => Clock.read(words.get(word) ?? "", this.about.drawn));
    this.others = new Map([...words].filter(([word]) => !["from", "to", "span"].includes(word)));
    if (to > from)
      this.set(from, to);
    else if (words.get("span") || this.from === undefined)
      this.choose(words.get("span") ?? this.about.shown);
  }

  /* What the address of another page has to say to show the same time. isFixed: also when the pages have been drawn again */
  words(isFixed) {
    return this.name && !isFixed ? `span=${this.name}` : `from=${Clock.stamp(this.from)}&to=${Clock.stamp(this.to)}`;
  }

  address(isFixed) {
    const others = [...this.others].filter(([word, value]) => value && word !== "at");
    const words = others.map(([word, value]) => `${word}=${value.split("/").map(quote).join("/")}`);
    return "#" + [...words, this.words(isFixed)].join("&");
  }

  write() {
    try {
      history.replaceState(null, "", this.address(false));
    } catch {
      /* A browser refuses more than so many in a while; the next one gets through. */
    }
  }

  /* Of those levels that a service has, the finest that has all of the time, or else the longest; undefined without any. shift:
   * seconds by which the time is earlier */
  level(names, shift = 0) {
    const length = level => level.end - level.start, [from, to] = [this.from - shift, this.to - shift];
    const there = this.about.levels.filter(level => names.includes(level.name)).sort((a, b) => length(a) - length(b));
    return there.find(level => level.start <= from + 1 && level.end >= to - 1) ?? there.at(-1);
  }

  /* "Last hour: 27 Nov 02:10:00 to 03:10:00". A span that was asked for by its times has no title. */
  inWords() {
    const named = !this.name || !this.span().title ? "" : this.isFirst ? `First ${this.length()}: ` : `Last ${this.span().title}: `;
    return named + Clock.range(this.from, this.to, this.about.drawn);
  }

  /* 7 minutes */
  length() {
    const units = [["day", DAY], ["hour", HOUR], ["minute", MINUTE], ["second", 1]];
    const [word, size] = units.find(([, size]) => this.seconds >= 2 * size || size === 1);
    const count = Math.round(this.seconds / size);
    return `${count} ${word}${count === 1 ? "" : "s"}`;
  }
}

/* The bar with which the time is chosen. */
class TimeBar {
  constructor(view, change) {
    this.view = view;
    this.change = change;
    const choose = name => change(() => view.choose(name));
    this.buttons = view.about.spans.map(({name, title}) => make("button", {onclick: () => choose(name)}, title || "all"));
    this.fields = ["from", "to"].map(word => make("input", {
      type: "text", size: 19, spellcheck: false, autocomplete: "off", class: "time", onchange: () => this.typed(),
      "aria-label": `${word}, such as 2026-11-27T03:10:00`, title: `${word}: a day and a time, or a time alone`}));
    this.copied = make("button", {onclick: () => this.copy(), title: "Copy the address of this page at this time"}, "copy link");
    const group = (name, ...inside) => make("span", {role: "group", "aria-label": name}, ...inside);
    const spans = group("Span of time", this.buttons), [from, to] = this.fields;
    spans.className = "spans";
    this.element = make("div", {class: "times"}, spans,
      group("Time shown", this.mover(-1, "‹", "earlier"), from, "–", to, this.mover(1, "›", "later")), this.copied);
  }

  mover(way, sign, word) {
    return make("button", {onclick: () => this.move(way), title: `${word} by half of the time shown`, "aria-label": word}, sign);
  }

  move(way) {
    const {from, to, seconds} = this.view;
    this.change(() => this.view.set(from + way * seconds / 2, to + way * seconds / 2));
  }

  typed() {
    const [from, to] = this.fields.map(field => Clock.read(field.value, this.view.from));
    this.fields.forEach(field => field.setAttribute("aria-invalid", String(!(to > from))));
    if (to > from)
      this.change(() => this.view.set(from, to));
  }

  async copy() {
    const text = location.href.split("#")[0] + this.view.address(true);
    try {
      await navigator.clipboard.writeText(text);
      this.copied.textContent = "copied";
    } catch {
      /* Without a secure connection there is no clipboard. */
      prompt("The address of this page at this time:", text);
    }
    setTimeout(() => this.copied.textContent = "copy link", 2000);
  }

  update() {
    const {view} = this;
    this.buttons.forEach((button, place) => button.ariaPressed = String(view.about.spans[place].name === view.name));
    this.fields.forEach((field, place) => {
      field.value = Clock.stamp([view.from, view.to][place]);
      field.removeAttribute("aria-invalid");
    });
  }
}
