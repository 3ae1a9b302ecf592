/* SPDX-License-Identifier: MIT
 * What is pointed at, dragged over and typed in a chart: a line at the time, the time that is chosen, and marks of events. */
class Pointer {
  /* element: over what is drawn; range(): {from, to} that it shows; board: is told of moments and zooms in its time */
  constructor(element, range, board) {
    Object.assign(this, {element, range, board, marks: []});
    this.line = element.appendChild(make("b", {hidden: true}));
    this.said = element.appendChild(make("span", {class: "tip", hidden: true}));
    element.onpointerdown = event => this.down(event);
    element.onpointermove = event => this.move(event);
    element.onpointerup = event => this.end(event);
    element.onpointercancel = () => this.drop();
    element.onpointerleave = event => event.pointerType !== "touch" && !this.chosen && (this.tell(null), board.show(null));
    element.ondblclick = () => board.reset();
    element.parentNode.onkeydown = event => this.press(event);
  }

  /* The place of an event in the element, 0 to 1. */
  place(event) {
    const box = this.element.getBoundingClientRect();
    return Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
  }

  moment(place) {
    const {from, to} = this.range();
    return from + place * (to - from);
  }

  show(moment) {
    const {from, to} = this.range();
    this.line.hidden = moment === null || moment < from || moment > to;
    if (!this.line.hidden)
      this.line.style.left = 100 * (moment - from) / (to - from) + "%";
  }

  down(event) {
    if (event.button)
      return;
    this.begin = this.place(event);
    this.chosen = this.element.appendChild(make("s"));
    if (event.isTrusted)
      this.element.setPointerCapture(event.pointerId);
    this.board.show(this.moment(this.begin));
  }

  move(event) {
    const place = this.place(event);
    if (this.chosen) {
      this.chosen.style.left = 100 * Math.min(place, this.begin) + "%";
      this.chosen.style.width = 100 * Math.abs(place - this.begin) + "%";
    }
    this.tell(event);
    this.board.show(this.moment(place));
  }

  end(event) {
    const place = this.place(event), {begin, element} = this;
    const isWide = this.chosen && Math.abs(place - begin) * element.clientWidth > 8;
    this.drop();
    if (isWide)
      this.board.zoom(this.moment(Math.min(begin, place)), this.moment(Math.max(begin, place)));
  }

  drop() {
    this.chosen?.remove();
    this.chosen = null;
  }

  press(event) {
    const {from, to} = this.range(), way = {ArrowLeft: -1, ArrowRight: 1}[event.key];
    const scale = {"+": 0.5, "=": 0.5, "-": 2}[event.key];
    if (event.target !== this.element.parentNode || event.ctrlKey || event.metaKey || event.altKey)
      return;
    if (way)
      this.board.step(way, from, to);
    else if (scale)
      this.board.scale(scale, from, to);
    else
      return;
    event.preventDefault();
  }

  /* events: [{time, service, text}] of the time that is shown */
  mark(events) {
    const {from, to} = this.range(), places = new Map();
    for (const one of events) {
      const place = Math.round(200 * (one.time - from) / (to - from)) / 200;
      places.set(place, [...places.get(place) ?? [], one]);
    }
    this.marks.forEach(one => one.mark.remove());
    const isOkay = many => many.every(({severity}) => severity === "okay"), look = many => isOkay(many) ? "okay" : "";
    this.marks = [...places].map(([place, many]) =>
      ({place, many, mark: make("u", {style: `left: ${100 * place}%`, class: look(many)})}));
    this.element.append(...this.marks.map(({mark}) => mark));
    this.element.classList.toggle("crowded", this.marks.length > 12);
  }

  /* The text of an event's mark under the pointer. */
  tell(event) {
    const width = this.element.clientWidth, place = event && this.place(event);
    const found = event && this.marks.find(one => Math.abs(one.place - place) * width < 6);
    this.said.hidden = !found;
    if (!found)
      return;
    const more = found.many.length - 3, texts = found.many.slice(0, 3).map(Events.inWords);
    this.said.textContent = [...texts, ...more > 0 ? [`and ${more} more`] : []].join("\n");
    this.said.style.left = found.place < 0.5 ? 100 * found.place + "%" : "auto";
    this.said.style.right = found.place < 0.5 ? "auto" : 100 - 100 * found.place + "%";
  }
}

/* What happened, on the time axes of all charts and as a list under the first. */
const Events = {
  MOST: 8,

  inWords({time, service, text}) {
    return `${Clock.text(time, 0)} ${service ? service + ": " : ""}${text}`;
  },

  /* Those of a time; of a service's page its own and those of the machine */
  of(events, {from, to}, service = "") {
    return events.filter(one => one.time >= from && one.time <= to && (!service || !one.service || one.service === service));
  },

  /* An element with those of a time, the latest first. */
  list(events, {to}) {
    const clock = moment => make("time", {}, Clock.text(moment, 0, to));
    const row = ({time, service, text}) => make("li", {}, clock(time), service ? ` ${service}: ` : " ", text);
    const rows = events.map(row), rest = rows.slice(Events.MOST);
    const more = () => make("details", {}, make("summary", {}, `and ${rest.length} more`), make("ul", {}, rest));
    return make("div", {class: "events", hidden: !rows.length}, make("h3", {}, "What happened"),
                make("ul", {}, rows.slice(0, Events.MOST)), rest.length ? more() : "");
  },
};
