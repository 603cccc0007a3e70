/* A plan's page: draws the charts of what its rule found out, and draws them again when htmx brings newer ones. */

import { draw } from "./chart-drawing.js";

function drawAll() {
  for (const frame of document.querySelectorAll("[data-plan-chart]")) {
    const canvas = frame.querySelector("canvas");
    const source = document.getElementById(frame.dataset.planChart);
    if (!source || !window.Chart || canvas.dataset.drawn) continue;
    canvas.dataset.drawn = "yes";
    draw(canvas, JSON.parse(source.textContent));
  }
}

document.addEventListener("htmx:after:swap", drawAll);
drawAll();
