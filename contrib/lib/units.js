/* SPDX-License-Identifier: MIT
 * Figures as ebpf-top and the manual write them, and the axes of values: unit.py says what a unit means. */
const UNKNOWN = "–", NBSP = "\u00a0", PREFIXES = "nµm kMGTP", NO_PREFIX = 3;

const power = number => {
  if (number === 0 || Math.abs(number) >= 0.01 && Math.abs(number) < 1000)
    return String(Number(number.toPrecision(3)));
  const [digits, exponent] = number.toExponential(1).split("e");
  const raised = [...String(Number(exponent))].map(one => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(one)]).join("");
  return (digits === "1.0" ? "" : digits.replace(/\.0$/, "") + "×") + "10" + raised;
};

const threeDigits = number => {
  const size = Math.abs(number);
  if (size >= 1e6)
    return number.toExponential(1).replace(/\.0e/, "e");
  if (number > 0 && number < 0.005)
    return "<0.01";
  if (size >= 99.95 || Math.abs(size - Math.round(size)) <= 5e-4 * size)
    return number.toFixed(0);
  return number.toFixed(size >= 9.995 ? 1 : 2);
};

const isKnown = value => value !== null && value !== undefined && Number.isFinite(value);

const writeWith = (value, unit, digits) => {
  if (!isKnown(value))
    return UNKNOWN;
  let size = Math.abs(value), place = NO_PREFIX;
  /* A value that would be rounded up to the base gets the next prefix. */
  while (!unit.exponent && size >= unit.base - 0.5 && place < PREFIXES.length - 1) {
    size /= unit.base;
    place++;
  }
  while (!unit.exponent && unit.small && size > 0 && size < 0.9995 && place > 0) {
    size *= unit.base;
    place--;
  }
  const letter = PREFIXES[place].trim(), binary = unit.base === 1024 && place > NO_PREFIX;
  const suffix = (binary ? letter.toUpperCase() + "i" : letter) + unit.symbol;
  return (unit.exponent ? power(value) : digits(Math.sign(value) * size)) + (suffix && NBSP + suffix);
};

/* Three digits, prefix and symbol: 12.3 ms, 3.02 MiB. */
const write = (value, unit) => writeWith(value, unit, threeDigits);

/* The label of an axis, without trailing zeros. */
const writeTick = (value, unit) => writeWith(value, unit, number => String(Number(number.toPrecision(6))));

const writePercent = share => (share >= 0.5 || share === 0 ? share.toFixed(0) : "<1") + NBSP + "%";

/* A time that has passed: 8 s, 12 min. */
const writeAge = seconds => {
  const [size, symbol] = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]].find(([size]) => seconds >= 2 * size || size === 1);
  return Math.round(seconds / size) + NBSP + symbol;
};

const Axis = {
  MOST: 5,          /* labels, approximately */
  LEAST: 1e-30,     /* the smallest range */

  /* 1, 2 or 5 times a power of 10; for bytes a power of 2. */
  step(range, unit) {
    if (unit.base === 1024 && range >= 4)
      return 2 ** Math.ceil(Math.log2(range / Axis.MOST));
    const tens = 10 ** Math.floor(Math.log10(range / Axis.MOST));
    const step = [1, 2, 5, 10].map(one => one * tens).find(one => one * Axis.MOST >= range * 0.999999);
    return unit.whole ? Math.max(1, step) : step;
  },

  /* From 0, or a negative value, to just above the highest value. */
  linear(low, high, unit, top) {
    low = Math.min(low, 0);
    high = top || high;
    if (!(high - low > Axis.LEAST))
      high = low + Math.max(1, Math.abs(low));
    const step = Axis.step(high - low, unit), bottom = Math.floor(low / step) * step;
    const end = top || Math.max(high * 1.05, bottom + step), count = Math.floor((end - bottom) / step * 1.000001) + 1;
    const labels = Array.from({length: count}, (_, place) => bottom + step * place);
    /* A line along the top is seen. */
    return {low: bottom, high: top ? bottom + 1.02 * (top - bottom) : end, log: false, labels};
  },

  /* Choices of labels, the most first: each stride of powers, and the steps from one power to the next. */
  DECIMAL: [[1, [1, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9]], [1, [1, 1.5, 2, 3, 4, 6, 8]], [1, [1, 2, 5]], [1, [1, 3]],
            [1, [1]], [2, [1]], [3, [1]], [9, [1]]],
  BINARY: [[1, [1, 1.25, 1.5, 1.75]], [1, [1, 1.5]], [1, [1]], [2, [1]], [5, [1]], [10, [1]], [20, [1]]],

  /* For positive values; others are at the bottom. As many labels as there is room for. */
  logarithmic(least, most, unit) {
    const low = 10 ** (Math.log10(least) - 0.05), high = Math.max(10 ** (Math.log10(most) + 0.05), low * 10 ** 0.4);
    const [base, log, choices] = unit.base === 1024 ? [2, Math.log2, Axis.BINARY] : [10, Math.log10, Axis.DECIMAL];
    const labels = ([stride, steps]) => {
      const found = [];
      for (let power = Math.floor(log(low) / stride) * stride; power <= Math.ceil(log(high)); power += stride)
        found.push(...steps.map(step => step * base ** power));
      return found.filter(one => one >= low && one <= high);
    };
    return {low, high, log: true, labels: choices.map(labels).find(found => found.length <= Axis.MOST) ?? []};
  },

  /* chart: has unit, log and top */
  of(values, chart) {
    const positive = values.filter(value => value > 0), least = (many, start) => many.reduce((a, b) => Math.min(a, b), start);
    const high = values.reduce((a, b) => Math.max(a, b), -Infinity);
    if (chart.log && positive.length)
      return Axis.logarithmic(least(positive, Infinity), high, chart.unit);
    return Axis.linear(least(values, 0), Math.max(0, high), chart.unit, chart.top);
  },
};
