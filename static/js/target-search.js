/* Finds targets of a form by host, name, path or filesystem, and ticks all of a host; without scripts it is a plain list of boxes. */

const number = new Intl.NumberFormat("en");

function boxesIn(part) {
  return [...part.querySelectorAll("[data-target] input")];
}

function isShown(box) {
  return !box.closest("[data-target]").hidden;
}

function count(root) {
  const boxes = boxesIn(root);
  const chosen = boxes.filter((box) => box.checked);
  const shown = boxes.filter(isShown).length;
  const away = chosen.filter((box) => !isShown(box)).length;
  const words = [`${number.format(chosen.length)} of ${number.format(boxes.length)} chosen`];
  if (shown < boxes.length) words.push(`${number.format(shown)} shown`);
  if (away) words.push(`${number.format(away)} of the chosen ${away === 1 ? "is" : "are"} not shown`);
  const status = root.querySelector("[data-target-status]");
  if (status.textContent !== words.join(", ")) status.textContent = words.join(", ");
  for (const host of root.querySelectorAll("[data-target-host]")) countHost(host);
}

function countHost(host) {
  const all = host.querySelector("[data-target-all]");
  if (!all) return;
  const boxes = boxesIn(host);
  const chosen = boxes.filter((box) => box.checked).length;
  all.checked = chosen === boxes.length;
  all.indeterminate = chosen > 0 && chosen < boxes.length;
  host.querySelector("[data-target-count]").textContent = `${chosen} of ${boxes.length} chosen`;
}

function search(root) {
  const words = root.querySelector("[data-target-search]").value.toLowerCase().split(/[\s,]+/).filter(Boolean);
  for (const host of root.querySelectorAll("[data-target-host]")) {
    for (const row of host.querySelectorAll("[data-target]")) {
      const text = row.dataset.target.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
    }
    host.hidden = !boxesIn(host).some(isShown);
  }
}

/* Tick boxes, and tell the form once, so that what follows it (the estimate) is asked for once. */
function tick(root, boxes, isChecked) {
  for (const box of boxes) box.checked = isChecked;
  count(root);
  root.closest("form").dispatchEvent(new Event("change", { bubbles: true }));
}

/* What is typed into the search is no part of the form: nothing that follows the form hears of it. */
for (const type of ["input", "change", "keyup"]) {
  document.addEventListener(
    type,
    (event) => {
      if (!event.target.matches?.("[data-target-search]")) return;
      event.stopPropagation();
      const root = event.target.closest("[data-targets]");
      search(root);
      count(root);
    },
    { capture: true },
  );
}
document.addEventListener("change", (event) => {
  const root = event.target.closest("[data-targets]");
  if (!root) return;
  const all = event.target.closest("[data-target-all]");
  if (all) for (const box of boxesIn(all.closest("[data-target-host]"))) box.checked = all.checked;
  count(root);
});
document.addEventListener("click", (event) => {
  const root = event.target.closest("[data-targets]");
  if (!root) return;
  if (event.target.closest("[data-target-shown]")) tick(root, boxesIn(root).filter(isShown), true);
  if (event.target.closest("[data-target-none]")) tick(root, boxesIn(root), false);
});
for (const root of document.querySelectorAll("[data-targets]")) {
  for (const tools of root.querySelectorAll("[data-target-tools]")) tools.hidden = false;
  search(root);
  count(root);
}
