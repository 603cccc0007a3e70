/* One box that ticks all boxes of a name on the page; without scripts it is not there. */

function prepare(root) {
  for (const all of root.querySelectorAll("[data-select-all]")) all.hidden = false;
}

document.addEventListener("change", (event) => {
  const all = event.target.closest("[data-select-all]");
  if (!all) return;
  for (const box of all.form.querySelectorAll(`input[name="${all.dataset.selectAll}"]`)) box.checked = all.checked;
});
document.addEventListener("htmx:after:swap", () => prepare(document));
prepare(document);
