/* Chart.js in the site's colours, light and dark; every chart here has its table on the page. */

import { keys } from "./chart-keys.js";
import { dash } from "./chart-marks.js";
import { human, significant, tick } from "./quantities.js";

const made = new Set();
const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const reduced = matchMedia("(prefers-reduced-motion: reduce)").matches;

export const colour = (index) => css(`--series-${(index % 8) + 1}`);

function veil(hex, share) {
  return `${hex}${Math.round(share * 255).toString(16).padStart(2, "0")}`;
}

function paint(chart) {
  const ink = css("--ink-2");
  const line = css("--line");
  for (const scale of Object.values(chart.options.scales)) {
    scale.ticks = { ...scale.ticks, color: ink };
    scale.grid = { ...scale.grid, color: line };
    scale.title = { ...scale.title, color: ink };
    scale.border = { color: line };
  }
  chart.options.plugins.legend.labels.color = css("--ink");
  Object.assign(chart.options.plugins.tooltip, { backgroundColor: css("--ink"), titleColor: css("--surface"), bodyColor: css("--surface") });
  for (const set of chart.data.datasets) {
    const own = colour(set.tone);
    set.borderColor = set.shade ? "transparent" : own;
    set.borderDash = set.shade ? [] : dash(set.tone); // not by colour alone
    set.backgroundColor = set.shade ? veil(own, 0.16) : set.filled ? veil(own, 0.55) : own;
  }
}

document.addEventListener("spindle:theme", () => {
  for (const chart of made) {
    paint(chart);
    chart.update("none");
  }
});

/* Between two ticks; 0 where it is not the same everywhere. The first and the last one may stand at the axis' ends. */
function stepOf(spec, all) {
  if ((spec.type ?? "linear") !== "linear" || all.length < 2) return 0;
  const [one, next] = all.length > 2 ? [all[1], all[2]] : all;
  return Math.abs(next.value - one.value);
}

/* options: x {type, unit, title}, y {type, unit, title}, tooltip title */
export function plot(id, type, datasets, { x, y, title }) {
  const canvas = document.getElementById(id);
  if (!canvas || !window.Chart) return null;
  const axis = (spec, more) => ({
    type: spec.type ?? "linear",
    title: { display: Boolean(spec.title), text: spec.title },
    ticks: { callback(value, _, all) { return this.chart.data.datasets.length ? tick(value, spec.unit, stepOf(spec, all)) : ""; }, maxRotation: 0, autoSkipPadding: 14, ...spec.ticks },
    ...spec.bounds,
    ...more,
  });
  const chart = new window.Chart(canvas, {
    type,
    data: { datasets },
    options: {
      responsive: true,
      maintainAspectRatio: false,
      animation: reduced ? false : { duration: 150 },
      parsing: false,
      normalized: true,
      interaction: { mode: "nearest", axis: "x", intersect: false },
      elements: { point: { radius: 0, hitRadius: 8, hoverRadius: 3 }, line: { borderWidth: 1.75, tension: 0 } },
      scales: { x: axis(x), y: axis(y, { grace: "6%" }) },
      plugins: {
        legend: { display: true, align: "start", labels: { boxWidth: 12, boxHeight: 3, filter: (item, data) => !data.datasets[item.datasetIndex].shade } },
        tooltip: {
          filter: (item) => !item.dataset.shade,
          callbacks: { title: (items) => (items.length ? title(items[0].parsed.x) : ""), label: (item) => `${item.dataset.label}: ${human(item.parsed.y, y.unit)}` },
        },
      },
    },
  });
  paint(chart);
  chart.update("none");
  made.add(chart);
  keys(chart, { tiles: [] }, (_, set, index) => says(chart, set, index, title, y.unit), () => lines(chart));
  return chart;
}

/* By keyboard one walks the lines; the shade of a line is said with it. */
function lines({ data: { datasets } }) {
  const rows = datasets.map((set, index) => [set, index]).filter(([set]) => !set.shade);
  return { rows: rows.length, columns: (row) => rows[row]?.[0].data.length ?? 0, place: (row, column) => [rows[row][1], column] };
}

function says({ data: { datasets } }, set, index, title, unit) {
  const [line, low, high] = [datasets[set], datasets[set + 1], datasets[set + 2]];
  const { x, y } = line.data[index];
  const span = low?.shade && high?.shade ? ` (${human(low.data[index].y, unit)} to ${human(high.data[index].y, unit)})` : "";
  return `${line.label}, ${title(x)}: ${human(y, unit)}${span}`;
}

/* What a chart that grows shows now, in words: as `said` in apps/comparison/charts/time_series.py. */
export function said({ data: { datasets } }, unit) {
  const text = (value) => human(value, unit);
  return datasets.map(({ label, data }) => {
    const values = data.map(({ y }) => y);
    const [least, most, sum] = values.reduce(([low, high, all], y) => [Math.min(low, y), Math.max(high, y), all + y], [Infinity, -Infinity, 0]);
    const count = `${values.length} value${values.length === 1 ? "" : "s"} from ${seconds(data[0].x)} to ${seconds(data.at(-1).x)}`;
    return `${label}: ${count}, mean ${text(sum / values.length)}, ${text(least)} to ${text(most)}, begins at ${text(values[0])} and is now at ${text(values.at(-1))}${gaps(data.map(({ x }) => x))}`;
  }).join("; ");
}

/* Steps of three times the usual one, and of a hundredth of the whole, as `Track.gaps` has them. */
function gaps(times) {
  const steps = times.slice(1).map((time, at) => time - times[at]);
  if (steps.length < 2) return "";
  const sorted = steps.toSorted((a, b) => a - b);
  const usual = (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;
  const longest = Math.max(3 * usual, 0.01 * (times.at(-1) - times[0]));
  const found = steps.flatMap((step, at) => (step > longest ? [`from ${seconds(times[at])} to ${seconds(times[at + 1])}`] : []));
  return found.length ? `, nothing ${found.slice(0, MOST_TOLD).join(" and ")}${found.length > MOST_TOLD ? ` and in ${found.length - MOST_TOLD} more gaps` : ""}` : "";
}

const MOST_TOLD = 6; // gaps
const seconds = (value) => `${significant(value)}\u00a0s`;

/* Values over the seconds of a run. */
export function overTime(metric, unit, datasets = []) {
  return plot(`chart-${metric}`, "line", datasets, {
    x: { title: "seconds", unit: "seconds", bounds: { min: 0 } },
    y: { unit, bounds: { beginAtZero: true } },
    title: (seconds) => `${Number(seconds).toFixed(1)} s`,
  });
}
