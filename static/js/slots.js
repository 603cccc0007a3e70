/* The slot map: an array lights its members at once, and the arrow keys move in the grid. Without scripts the same links load
   the page with that array lit. */

import { makeGrid } from "./grid-keys.js";

const span = document.getElementById("span");
const tables = [...document.querySelectorAll("[data-slots]")];
const links = [...document.querySelectorAll("[data-array]")];

function light(link) {
  const id = link?.dataset.array;
  for (const table of tables) {
    table.classList.toggle("has-lit", Boolean(id));
    for (const cell of table.querySelectorAll("td.slot")) {
      const isLit = Boolean(id) && (cell.dataset.arrays ?? "").split(" ").includes(id);
      cell.classList.toggle("is-lit", isLit);
      cell.setAttribute("aria-selected", String(isLit));
    }
  }
  for (const one of links) {
    if (one === link) one.setAttribute("aria-current", "true");
    else one.removeAttribute("aria-current");
  }
  span.textContent = link ? link.dataset.span : "";
}

function choose(link) {
  const again = link.getAttribute("aria-current") === "true";
  light(again ? null : link);
  const address = new URL(link.href);
  if (again) address.searchParams.delete("array");
  history.replaceState(null, "", address);
}

function clicked(event) {
  const link = event.target.closest("[data-array]");
  if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
    event.preventDefault();
    choose(link);
  } else if (event.target.closest("[data-unlight]")) {
    event.preventDefault();
    light(null);
    const address = new URL(location.href);
    address.searchParams.delete("array");
    history.replaceState(null, "", address);
  }
}

/* Space on a link does nothing by itself; here it presses: an array's link, or in the grid the first array of that disk. */
function pressed(event) {
  if (event.key !== " ") return;
  const link = event.target.closest("[data-array]");
  const ids = event.target.closest("td.slot")?.dataset.arrays?.split(" ") ?? [];
  const wanted = link ?? links.find((one) => ids.includes(one.dataset.array));
  if (!wanted) return;
  event.preventDefault();
  choose(wanted);
}

function prepare(table) {
  makeGrid(table);
  table.setAttribute("aria-readonly", "true");
  for (const cell of table.querySelectorAll("td.slot")) cell.setAttribute("aria-selected", String(cell.classList.contains("is-lit")));
}

tables.forEach(prepare);
document.addEventListener("click", clicked);
document.addEventListener("keydown", pressed);
