/* SPDX-License-Identifier: MIT
 * The picture of a chart: drawn by dygraphs, with areas and stacks of our own, whose gaps are gaps. */
const LEFT = 58, RIGHT = 10;    /* pixels beside what is drawn, the same in all charts */
const DASHES = {dashes: [6, 4], dotted: [2, 3]};

/* Runs of points that are known. */
const pieces = points => points.reduce((found, point, place) => {
  if (Number.isFinite(point.canvasy))
    found.at(-1).push(place);
  else if (found.at(-1).length)
    found.push([]);
  return found;
}, [[]]).filter(piece => piece.length);

const dot = (context, {canvasx, canvasy}) => {
  context.beginPath();
  context.arc(canvasx, canvasy, 2.2, 0, 2 * Math.PI);
  context.fill();
};

/* An area down to the axis or, in a stack, to the series below it. below: its number, -1 of the lowest, null without a stack */
const areaPlotter = (below, alpha, edge) => ({drawingContext: context, points, color, dygraph, allSeriesPoints}) => {
  const [low] = dygraph.yAxisRange(), base = dygraph.toDomYCoord(Math.max(0, low));
  const under = place => {
    const y = allSeriesPoints[below ?? -1]?.[place].canvasy;
    return Number.isFinite(y) ? y : base;
  };
  context.fillStyle = color;
  context.strokeStyle = edge;
  context.lineWidth = 0.6;
  for (const piece of pieces(points)) {
    if (piece.length === 1 && points[piece[0]].yval) {
      dot(context, points[piece[0]]);
      continue;
    }
    context.globalAlpha = alpha;
    context.beginPath();
    piece.forEach(place => context.lineTo(points[place].canvasx, points[place].canvasy));
    piece.reverse().forEach(place => context.lineTo(points[place].canvasx, under(place)));
    context.closePath();
    context.fill();
    context.globalAlpha = 0.5;
    if (below !== null)
      context.stroke();
    context.globalAlpha = 1;
  }
};

/* A line; where it is above the axis, a triangle at the edge says so. */
const linePlotter = high => event => {
  Dygraph.Plotters.linePlotter(event);
  const {drawingContext: context, points, color, plotArea} = event;
  context.fillStyle = color;
  const above = points.map(point => ({...point, canvasy: point.yval > high ? 0 : NaN}));
  for (const piece of pieces(above)) {
    const x = (points[piece[0]].canvasx + points[piece.at(-1)].canvasx) / 2;
    context.beginPath();
    context.moveTo(x - 4, plotArea.y + 7);
    context.lineTo(x, plotArea.y + 1);
    context.lineTo(x + 4, plotArea.y + 7);
    context.fill();
  }
};

class Plot {
  constructor(element) {
    this.element = element;
  }

  /* layers: [{curve, below, values}] with the values to draw from the index `first` on; axis: see Axis */
  draw(layers, first, level, axis, view, unit) {
    const rows = this.rows(layers, first, level, axis), options = {...this.looks(layers, axis), ...this.axes(axis, view, unit)};
    this.element.hidden = !layers.length || !rows.length;
    if (this.element.hidden)
      return;
    if (this.graph)
      this.graph.updateOptions({file: rows, ...options});
    else
      this.graph = new Dygraph(this.element, rows, {...options, ...Plot.FIXED});
  }

  /* The library's time: milliseconds, which it tells as UTC. */
  time(moment) {
    return (moment + Clock.offset) * 1000;
  }

  rows(layers, first, level, axis) {
    /* On a logarithmic axis 0 is at the bottom. */
    const shown = value => axis.log && value !== null && value < axis.low ? axis.low : value;
    return (layers[0]?.values ?? []).map((_, place) =>
      [this.time(level.time(first + place)), ...layers.map(({values}) => shown(values[place]))]);
  }

  looks(layers, axis) {
    const names = layers.map((_, place) => String(place)), isFilled = ({curve}) => ["stack", "area"].includes(curve.draw);
    const area = (below, draw) => ({plotter: areaPlotter(below, draw === "stack" ? 0.95 : 0.75, Theme.of("card"))});
    const line = draw => ({plotter: linePlotter(axis.high), strokeWidth: draw === "dotted" ? 2 : 1.6,
                           strokePattern: DASHES[draw] ?? null});
    const look = layer => isFilled(layer) ? area(layer.below, layer.curve.draw) : line(layer.curve.draw);
    return {labels: ["time", ...names], series: Object.fromEntries(layers.map((layer, place) => [names[place], look(layer)])),
            colors: layers.map(layer => Theme.paint(layer.curve.color, isFilled(layer))), gridLineColor: Theme.of("grid")};
  }

  axes(axis, view, unit) {
    return {
      dateWindow: [this.time(view.from), this.time(view.to)], valueRange: [axis.low, axis.high], logscale: axis.log,
      axes: {
        x: {axisLabelFontSize: 11, axisLabelWidth: 76, axisTickSize: 3,
            ticker: () => this.moments(view).map(([moment, label]) => ({v: this.time(moment), label}))},
        y: {axisLabelFontSize: 11, axisLabelWidth: LEFT - 6, axisTickSize: 3,
            ticker: () => axis.labels.map(v => ({v, label: writeTick(v, unit)}))},
      },
    };
  }

  /* The labels of the time axis; the first would be in the way of that of the lowest value. */
  moments(view) {
    const width = this.element.clientWidth - LEFT - RIGHT;
    const isNear = moment => width * (moment - view.from) / (view.to - view.from) < 18;
    return TimeAxis.labels(view, width).map(([moment, label]) => [moment, isNear(moment) ? "" : label]);
  }

  remove() {
    this.graph?.destroy();
    this.graph = null;
  }
}
Plot.FIXED = {legend: "never", showLabelsOnHighlight: false, highlightCircleSize: 0, interactionModel: {}, rightGap: RIGHT,
              pointSize: 2.2, labelsUTC: true, axisLineColor: "transparent", gridLineWidth: 1};
