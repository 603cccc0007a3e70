/* The run's page: charts that grow while fio runs, and those of a run that has ended. */

import { plot } from "./charts.js";
import { LiveRun } from "./live.js";
import { human } from "./quantities.js";
import { timeCharts } from "./zoom.js";

/* Percentiles on an axis of nines: 90, 99, 99.9 stand as far apart as they matter. */
const nines = (percent) => -Math.log10(1 - percent / 100);
const percentOf = (x) => 100 * (1 - 10 ** -x);

/* Of each operation's own completions, so that a slow operation is not flattened by a fast one. */
function shares(bars) {
  const all = bars.reduce((sum, [, count]) => sum + count, 0);
  return bars.map(([x, count]) => ({ x, y: (100 * count) / all }));
}

function latencyCharts(latency) {
  const bars = latency.map((one, tone) => ({ label: one.name, tone, filled: true, fill: "origin", stepped: "middle", data: shares(one.bars) }));
  plot("chart-histogram", "line", bars, {
    x: { type: "logarithmic", unit: "ns", title: "latency", ticks: { autoSkipPadding: 24 } },
    y: { unit: "%", title: "% of completions", bounds: { beginAtZero: true } },
    title: (ns) => `about ${human(ns, "ns")}`,
  });
  const curves = latency.map((one, tone) => ({ label: one.name, tone, data: one.curve.map(([percent, y]) => ({ x: nines(percent), y })) }));
  plot("chart-curve", "line", curves, {
    x: { title: "percent of completions", bounds: { min: 0, max: 5 }, ticks: { stepSize: 1, callback: (x) => `${Number(percentOf(x).toFixed(3))}\u00a0%` } },
    y: { type: "logarithmic", unit: "ns" },
    title: (x) => `${Number(percentOf(x).toFixed(3))} % within`,
  });
}

const data = document.getElementById("chart-data");
if (data) {
  const { series, latency } = JSON.parse(data.textContent);
  timeCharts(series);
  latencyCharts(latency);
}

const live = document.getElementById("live");
if (live) new LiveRun(live).open();
