/* The run's page: charts that grow while fio runs, and those of a run that has ended. */

import { draw } from "./chart-drawing.js";
import { LiveRun } from "./live.js";
import { timeCharts } from "./zoom.js";

const data = document.getElementById("chart-data");
if (data) {
  const { series, latency, heat } = JSON.parse(data.textContent);
  timeCharts(series);
  for (const one of latency) draw(document.getElementById(`chart-${one.kind}`), one);
  for (const one of heat) draw(document.getElementById(`chart-heat-${one.operation}`), one);
}

const live = document.getElementById("live");
if (live) new LiveRun(live).open();
