/* Charts over the seconds of a run that has ended, and looking closer: drag over a chart, or use the buttons above.
   The page has at most 1,000 moments of each series; a closer look asks the server for those of that part. */

import { overTime } from "./charts.js";
import { grouped } from "./quantities.js";

const SMALLEST = 1e-3; // seconds
const POINTS = 1000;

/* rows of [seconds, mean, least, most]: the mean as a line, the rest as a shade around it */
const layers = (rows) => [
  rows.map(([x, y]) => ({ x, y })),
  rows.map(([x, , low]) => ({ x, y: low })),
  rows.map(([x, , , high]) => ({ x, y: high })),
];

class Zoom {
  constructor(bar, series, charts) {
    Object.assign(this, { bar, series, charts });
    const times = series.flatMap((one) => one.points.map(([x]) => x));
    this.whole = [Math.min(0, ...times.slice(0, 1)), times.reduce((most, x) => Math.max(most, x), 0)];
    this.part = [...this.whole];
    bar.hidden = false;
    bar.addEventListener("click", (event) => this.press(event.target.dataset.zoom));
    for (const chart of charts.values()) this.draggable(chart);
    this.say();
  }

  draggable(chart) {
    chart.options.plugins.zoom = {
      zoom: {
        drag: { enabled: true, threshold: 8 },
        mode: "x",
        onZoomComplete: ({ chart: zoomed }) => this.show(zoomed.scales.x.min, zoomed.scales.x.max),
      },
    };
    chart.update("none");
  }

  press(what) {
    const [start, end] = this.part;
    const width = end - start;
    const to = {
      in: [start + width / 4, end - width / 4],
      out: [start - width / 2, end + width / 2],
      earlier: [start - width / 2, end - width / 2],
      later: [start + width / 2, end + width / 2],
      whole: this.whole,
    }[what];
    if (to) this.show(...to);
  }

  /* A part of the run, pushed back inside it where it sticks out. */
  show(start, end) {
    const [first, last] = this.whole;
    const width = Math.min(Math.max(end - start, SMALLEST), last - first);
    const begin = Math.min(Math.max(start, first), last - width);
    this.part = [begin, begin + width];
    this.say();
    this.ask();
  }

  say() {
    const [start, end] = this.part.map((seconds) => Number(seconds.toPrecision(6)));
    const isWhole = this.part[0] === this.whole[0] && this.part[1] === this.whole[1];
    document.getElementById("zoom-says").textContent = isWhole ? "Drag over a chart to look closer." : `${grouped(String(start))} to ${grouped(String(end))} s`;
  }

  async ask() {
    const [start, end] = this.part;
    const asked = (this.asked = `${this.bar.dataset.series}?start=${start}&end=${end}&points=${POINTS}`);
    let found;
    try {
      const answer = await fetch(asked, { headers: { Accept: "application/json" } });
      if (!answer.ok) throw new Error(answer.status);
      found = (await answer.json()).results;
    } catch {
      document.getElementById("zoom-says").textContent = "The server did not answer; the charts show what they had.";
      return;
    }
    if (asked !== this.asked) return; // somebody has moved on
    const rows = new Map(found.map((one) => [one.id, one.window.map(([x, low, mean, high]) => [x, mean, low, high])]));
    for (const chart of this.charts.values()) this.redraw(chart, rows);
  }

  redraw(chart, rows) {
    for (const set of chart.data.datasets) {
      if (rows.has(set.series)) set.data = layers(rows.get(set.series))[set.layer];
    }
    const [min, max] = this.part;
    Object.assign(chart.options.scales.x, { min, max });
    chart.update("none");
  }
}

export function timeCharts(series) {
  const charts = new Map();
  for (const metric of new Set(series.map((one) => one.metric))) {
    const mine = series.filter((one) => one.metric === metric);
    const sets = mine.flatMap((one, tone) => {
      const [line, low, high] = layers(one.points);
      const same = { label: one.name, tone, series: one.id };
      return [
        { ...same, layer: 0, data: line },
        { ...same, layer: 1, shade: true, fill: "+1", pointHitRadius: 0, data: low },
        { ...same, layer: 2, shade: true, data: high },
      ];
    });
    const chart = overTime(metric, mine[0].unit, sets);
    if (chart) charts.set(metric, chart);
  }
  const bar = document.getElementById("zoom");
  if (bar && charts.size) new Zoom(bar, series, charts);
}
