/* The grids of a plan: arrow keys move in them, also after htmx has brought newer values. */

import { makeGrid } from "./grid-keys.js";

function prepareAll() {
  document.querySelectorAll("[data-grid]").forEach(makeGrid);
}

document.addEventListener("htmx:after:swap", prepareAll);
prepareAll();
