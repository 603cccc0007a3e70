/* A run while it goes on, by server-sent events. The stream is closed while nobody looks: browsers allow six per server. */

import { describe } from "./chart-keys.js";
import { overTime, said } from "./charts.js";
import { human, UNIT_OF } from "./quantities.js";

const AGAIN_MS = 3000;

export class LiveRun {
  constructor(panel) {
    this.panel = panel;
    this.charts = Object.fromEntries(Object.entries(UNIT_OF).map(([metric, unit]) => [metric, overTime(metric, unit)]));
    this.tones = new Map();
    this.latest = -1;
    document.addEventListener("visibilitychange", () => (document.hidden ? this.close() : this.open()));
    addEventListener("pagehide", () => this.close());
  }

  open() {
    if (this.stream || document.hidden) return;
    // a stream that was opened again tells its history again: what is drawn already is skipped by its time
    this.stream = new EventSource(this.panel.dataset.stream);
    this.stream.addEventListener("progress", (event) => this.progress(JSON.parse(event.data)));
    this.stream.addEventListener("state", (event) => this.state(JSON.parse(event.data)));
    this.stream.addEventListener("error", () => this.broken());
  }

  /* A browser asks again by itself where the connection broke, but never where a proxy answered that the server is away. */
  broken() {
    document.getElementById("live-note").textContent = "Connection lost, trying again …";
    if (this.stream?.readyState !== EventSource.CLOSED) return;
    this.close();
    setTimeout(() => this.open(), AGAIN_MS);
  }

  close() {
    this.stream?.close();
    this.stream = null;
  }

  progress(point) {
    if (point.t <= this.latest) return;
    this.latest = point.t;
    this.begun();
    this.share(point.progress);
    for (const job of point.jobs) this.draw(point.t, job);
    this.table(point.jobs);
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => Object.entries(this.charts).forEach(([metric, chart]) => chart && this.show(metric, chart)));
    document.getElementById("live-note").textContent = `${Math.round(point.t)} s since the start`;
  }

  /* The words beside the chart are those of its data too; they are not spoken at every step. */
  show(metric, chart) {
    chart.update("none");
    const caption = document.getElementById(`said-${metric}`);
    if (chart.data.datasets.length) caption.parentElement.querySelector(".downloads").hidden = false;
    caption.textContent = `${caption.parentElement.querySelector("figcaption").textContent}. ${said(chart, UNIT_OF[metric]) || "Nothing has arrived yet"}.`;
    describe(chart, `${caption.textContent} The same numbers are in the table below.`);
  }

  begun() {
    noLonger("waiting-note");
    const none = document.getElementById("no-attempts");
    if (none) none.textContent = "The first one is under way; it is listed here when the run has ended.";
  }

  share(progress) {
    document.getElementById("live-progress").value = progress;
    document.getElementById("live-percent").textContent = `${Math.floor(progress * 100)}\u00a0%`;
  }

  draw(t, job) {
    const label = `${job.name} ${job.operation}`.trim();
    for (const metric of Object.keys(UNIT_OF)) {
      const chart = this.charts[metric];
      if (!chart || job[metric] === null) continue;
      this.line(chart, label).push({ x: t, y: job[metric] });
    }
  }

  line(chart, label) {
    if (!this.tones.has(label)) this.tones.set(label, this.tones.size);
    let set = chart.data.datasets.find((one) => one.label === label);
    if (!set) {
      set = { label, tone: this.tones.get(label), data: [] };
      chart.data.datasets.push(set);
      document.dispatchEvent(new CustomEvent("spindle:theme"));
    }
    return set.data;
  }

  table(jobs) {
    const rows = jobs.map((job) => {
      const row = document.createElement("tr");
      const head = document.createElement("th");
      head.scope = "row";
      head.textContent = job.name;
      row.append(head, cell(job.operation));
      for (const [metric, unit] of Object.entries(UNIT_OF)) row.append(cell(human(job[metric], unit), "num"));
      row.append(cell(`${Math.floor(job.done * 100)}\u00a0%`, "num"));
      return row;
    });
    document.getElementById("live-jobs").replaceChildren(...rows);
  }

  state({ state, reading, ended }) {
    const chip = document.querySelector("#run-state .chip");
    const words = reading ? "measured, being read" : state;
    if (chip.textContent.trim() !== words) {
      chip.className = `chip chip-${state}`;
      chip.textContent = words;
    }
    if (!["queued", "offered"].includes(state)) this.begun();
    const note = document.getElementById("live-note");
    if (reading) note.textContent = "The host is done; its result is being read.";
    if (ended) {
      note.textContent = ""; // what was said of the run while it went on is no longer so
      noLonger("reading-note");
      if (state === "finished") this.share(1);
      this.close();
      setTimeout(() => location.reload(), 800);
    }
  }
}

/* What was said of the wait is no longer so. */
function noLonger(id) {
  document.getElementById(id)?.remove();
}

function cell(text, kind = "") {
  const made = document.createElement("td");
  made.textContent = text;
  if (kind) made.className = kind;
  return made;
}
