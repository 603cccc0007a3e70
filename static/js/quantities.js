/* People's units in charts, as apps/core/units.py has them for pages. */

const RATES = {
  1000: [[1, "B/s"], [1e3, "kB/s"], [1e6, "MB/s"], [1e9, "GB/s"], [1e12, "TB/s"]],
  1024: [[1, "B/s"], [2 ** 10, "KiB/s"], [2 ** 20, "MiB/s"], [2 ** 30, "GiB/s"], [2 ** 40, "TiB/s"]],
};

const LADDERS = {
  "B/s": RATES[document.documentElement.dataset.base] ?? RATES[1000],
  B: [[1, "B"], [2 ** 10, "KiB"], [2 ** 20, "MiB"], [2 ** 30, "GiB"], [2 ** 40, "TiB"]], // sizes of files and blocks
  "1/s": [[1, "/s"], [1e3, "k/s"], [1e6, "M/s"]],
  ns: [[1, "ns"], [1e3, "µs"], [1e6, "ms"], [1e9, "s"]],
  "%": [[1, "%"]],
  "": [[1, ""], [1e3, "k"], [1e6, "M"], [1e9, "G"]],
  seconds: [[1, ""]], // of a run's time: 4\u202f994.5, never 4.99 k
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

/* For axes: no zeros that say nothing, and as many digits as tell a step from the next one. */
export function tick(value, unit = "", step = 0) {
  const [number, label = ""] = human(value, unit).split("\u00a0");
  const factor = (LADDERS[unit].find(([, name]) => name === label) ?? [1])[0];
  const decimals = step > 0 ? Math.min(9, Math.max(0, Math.ceil(-Math.log10(step / factor) - 1e-9))) : 0;
  const shown = decimals > (number.split(".")[1] ?? "").length ? Number((value / factor).toFixed(decimals)) : Number(number);
  return `${grouped(String(shown))}\u00a0${label}`.trim();
}

export function grouped(digits) {
  const [whole, rest] = digits.split(".");
  return `${whole.replace(/\B(?=(\d{3})+$)/g, "\u202f")}${rest ? `.${rest}` : ""}`;
}

/* At least 3 significant digits, thousands apart by a thin space: as `significant` in apps/core/units.py. */
export function significant(value) {
  if (value === 0) return "0";
  const decimals = Math.min(Math.max(0, 2 - Math.floor(Math.log10(Number(Math.abs(value).toPrecision(3))))), 9);
  return `${value < 0 ? "\u2212" : ""}${grouped(Math.abs(value).toFixed(decimals))}`;
}
