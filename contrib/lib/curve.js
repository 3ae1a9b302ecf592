/* SPDX-License-Identifier: MIT
 * The values of a chart's curves in the time that is shown, and what the legend says of them. */

/* The times of all values of a data file: value i is of the `step` seconds that end at first + i * step. */
class Level {
  /* about: of the pages, see about.js */
  constructor(data, about) {
    Object.assign(this, data.grid);
    this.newest = data.newest;
    this.share = data.covered;
    this.drawn = about.drawn;
    this.begin = about.levels.find(level => level.name === data.level)?.first ?? this.first - this.step;
  }

  time(index) {
    return this.first + index * this.step;
  }

  /* The index of the value of a moment, which is about the time before it. */
  index(moment) {
    return Math.ceil((moment - this.first) / this.step);
  }

  /* [first, end) of the indices of a time. */
  range({from, to}) {
    const place = moment => Math.min(this.count, Math.max(0, moment));
    return [place(Math.floor((from - this.first) / this.step) + 1), place(Math.ceil((to - this.first) / this.step) + 1)];
  }

  /* About how many of the values in a time any service of the host has. */
  covered(view) {
    const count = ({from, to}) => {
      const [first, end] = this.range({from: Math.max(from, this.begin), to: Math.min(to, this.newest)});
      return Math.max(0, end - first);
    };
    const all = count({from: -Infinity, to: Infinity});
    return count(view) * Math.min(1, all && this.share * this.count / all);
  }

  hasAll({from, to}) {
    return from <= this.first && to >= this.time(this.count - 1);
  }
}

class Curve {
  constructor(raw, level) {
    Object.assign(this, raw);
    this.level = level;
  }

  known([first, end]) {
    return this.values.slice(first, end).filter(isKnown);
  }

  /* {value, age in seconds, whether it is no longer current} of the last value in a time. */
  last(view) {
    const {level} = this, [first, end] = level.range(view), ends = Math.min(view.to, level.drawn);
    for (let index = Math.min(end, this.values.length) - 1; index >= first; index--)
      if (isKnown(this.values[index])) {
        const passed = moment => Math.max(0, moment - level.time(index));
        return {value: this.values[index], age: passed(ends), isOld: passed(Math.min(ends, level.newest)) > 2 * level.step};
      }
    return {value: null, age: 0, isOld: true};
  }

  /* adds: see Unit; then time without a value counts as 0 */
  average(view, adds) {
    const values = this.known(this.level.range(view)), least = adds ? this.level.covered(view) : 0;
    const count = Math.max(values.length, least);
    return values.length ? values.reduce((a, b) => a + b, 0) / count : null;
  }

  /* The median over time, which stands for the average of percentiles. */
  median(view) {
    const values = this.known(this.level.range(view)).sort((a, b) => a - b), half = values.length >> 1;
    return values.length ? values.length % 2 ? values[half] : (values[half - 1] + values[half]) / 2 : null;
  }

  /* Of all the values the highest reading, which may exceed the average of its step. */
  maximum(view) {
    if (this.level.hasAll(view) && isKnown(this.highest))
      return this.highest;
    const highest = this.shownMaximum(view);
    return isKnown(highest) ? highest : null;
  }

  /* The highest of the values that are shown. */
  shownMaximum(view) {
    return this.known(this.level.range(view)).reduce((a, b) => Math.max(a, b), -Infinity);
  }

  at(moment) {
    return this.values[this.level.index(moment)] ?? null;
  }
}

const Parts = {
  /* [[label, percent]], the largest first; empty without a whole. */
  shares(curves, view, adds) {
    const found = curves.filter(curve => curve.draw === "stack").map(curve => [curve.label, curve.average(view, adds)])
      .filter(([, value]) => isKnown(value));
    const whole = found.reduce((sum, [, value]) => sum + value, 0);
    return whole > 0 ? found.map(([label, value]) => [label, 100 * value / whole]).sort((a, b) => b[1] - a[1]) : [];
  },

  /* Text such as: mostly disk, 83 % */
  inWords(shares) {
    const one = ([label, percent]) => `${label}${NBSP}${writePercent(percent)}`;
    if (!shares.length)
      return "";
    return shares[0][1] >= 50 ? `mostly ${shares[0][0]}, ${writePercent(shares[0][1])}` : shares.slice(0, 2).map(one).join(", ");
  },

  /* Text such as: of 212 samples, 8 s ago */
  basis(samples, view) {
    const {value, age} = samples.last(view);
    return isKnown(value) ? `of${NBSP}${value.toFixed(0)}${NBSP}samples, ${writeAge(age)}${NBSP}ago` : "";
  },
};
