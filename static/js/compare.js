/* Draws the comparison's chart from the data beside it, and what one can do with it: zoom, surface. */

import { draw } from "./chart-drawing.js";
import { setUpFacets } from "./facets.js";
import { Surface } from "./surface.js";

let chart = null;
let surface = null;

const part = (name) => document.querySelector(`[data-chart-${name}]`);

function readData() {
  const source = document.getElementById("chart-data");
  return source ? JSON.parse(source.textContent) : null;
}

function redraw() {
  chart?.destroy();
  chart = surface = null;
  const data = readData();
  const canvas = document.querySelector("[data-compare-chart] canvas");
  if (!data || !canvas || !window.Chart) return;
  chart = draw(canvas, data, zoomed);
  const bar = part("tools");
  if (bar) bar.hidden = false;
  zoomed();
}

function zoomed() {
  const reset = document.querySelector("[data-chart-zoom=whole]");
  if (reset && chart) reset.disabled = !chart.isZoomedOrPanned();
}

function zoom(how) {
  const now = window.Chart.getChart(document.querySelector("[data-compare-chart] canvas"));
  chart = now ?? chart;
  if (how === "whole") chart.resetZoom("none");
  else chart.zoom(how === "in" ? 1.4 : 1 / 1.4, "none");
  zoomed();
}

/* The button that asks for the surface shows the flat map again when it is pressed a second time. */
async function showSurface(button) {
  const place = part("surface");
  const isShown = button.getAttribute("aria-pressed") === "true";
  button.setAttribute("aria-pressed", String(!isShown));
  place.hidden = isShown;
  part("turn-tools").hidden = isShown;
  if (isShown || surface) return;
  try {
    surface = await Surface.made(place, readData(), button.dataset.chartShowSurface);
  } catch (error) {
    place.textContent = `There is no surface (${error.message}); the heat map has the same numbers.`;
  }
}

/* A morph leaves a form's fields as the reader set them; what is in force is what the server says. */
function asTheServerSays() {
  for (const box of document.querySelectorAll("#results input[type=checkbox]")) box.checked = box.defaultChecked;
  for (const option of document.querySelectorAll("#results option")) option.selected = option.defaultSelected;
}

/* No more series can be picked than a chart draws: the others wait until one is taken out, and the list says so. */
function limitDrawn() {
  const list = document.querySelector("[data-most-drawn]");
  if (!list) return;
  const boxes = [...list.querySelectorAll("input[name=draw]")];
  const isFull = boxes.filter((box) => box.checked).length >= Number(list.dataset.mostDrawn);
  for (const box of boxes) box.disabled = isFull && !box.checked;
  list.querySelector("[data-all-drawn]").hidden = !boxes.some((box) => box.disabled);
}

let open = []; // ids of what was unfolded before the answer came: the server sends it folded

function keepOpen() {
  for (const id of open) {
    const found = document.getElementById(id);
    if (found) found.open = true;
  }
}

document.addEventListener("htmx:before:swap", () => {
  open = [...document.querySelectorAll("#series-list[open]")].map((one) => one.id);
});

let moved = ""; // the id of the link that moved a series

/* A series takes the focus along when it is moved; at an end the link that moves it back has it. */
function keepFocus() {
  if (!moved) return;
  const [, key] = moved.split("-");
  const link = document.getElementById(moved) ?? document.querySelector(`#series-${key} .moves a:last-child`);
  moved = "";
  link?.focus();
}

function swapped(event) {
  setUpFacets();
  // the choices of the filters come by themselves and fresh: nothing to set back, nothing to draw
  if (event.target.id === "facets") return;
  asTheServerSays();
  keepOpen();
  limitDrawn();
  redraw();
  keepFocus();
}

document.addEventListener("click", (event) => {
  moved = event.target.closest(".moves a")?.id ?? "";
  const button = event.target.closest("button");
  if (!button) return;
  if (button.dataset.chartZoom) zoom(button.dataset.chartZoom);
  if (button.dataset.chartShowSurface) showSurface(button);
  if (button.dataset.chartTurn) surface?.turn(button.dataset.chartTurn);
});
document.addEventListener("htmx:after:swap", swapped);
document.addEventListener("spindle:theme", () => {
  const button = document.querySelector("[data-chart-show-surface][aria-pressed=true]");
  part("surface")?.replaceChildren();
  surface = null;
  if (button) {
    button.setAttribute("aria-pressed", "false");
    showSurface(button);
  }
});
limitDrawn();
redraw();
