/* People's units in charts, as apps/lib/units.py has them for pages. */

const LADDERS = {
  "B/s": [[1, "B/s"], [1e3, "kB/s"], [1e6, "MB/s"], [1e9, "GB/s"], [1e12, "TB/s"]],
  "1/s": [[1, "/s"], [1e3, "k/s"], [1e6, "M/s"]],
  ns: [[1, "ns"], [1e3, "µs"], [1e6, "ms"], [1e9, "s"]],
  "%": [[1, "%"]],
  "": [[1, ""], [1e3, "k"], [1e6, "M"], [1e9, "G"]],
};

export const UNIT_OF = { bandwidth: "B/s", iops: "1/s", latency_mean: "ns" };

export function human(value, unit = "") {
  if (value === null || value === undefined) return "–";
  const fitting = LADDERS[unit].filter(([factor]) => factor <= Math.abs(value) * 1.0005);
  const [factor, label] = fitting.at(-1) ?? LADDERS[unit][0];
  const number = value / factor;
  const digits = number === 0 ? 0 : Math.max(0, 2 - Math.floor(Math.log10(Math.abs(number) * 1.0005)));
  return `${number.toFixed(Math.min(digits, 6))}\u00a0${label}`.trim();
}

/* For axes: no zeros that say nothing. */
export function tick(value, unit = "") {
  const [number, label = ""] = human(value, unit).split("\u00a0");
  return `${Number(number)}\u00a0${label}`.trim();
}
