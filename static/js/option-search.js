/* Finds options of a job by name, label or hint; without scripts the groups are opened by hand. */

function prepare(root) {
  for (const row of root.querySelectorAll(".option-search")) row.hidden = false;
}

function matches(option, words) {
  const text = option.dataset.option.toLowerCase();
  return words.every((word) => text.includes(word));
}

function search(input) {
  const words = input.value.toLowerCase().split(/[\s,]+/).filter(Boolean);
  const options = input.closest("[data-options]");
  let count = 0;
  for (const group of options.querySelectorAll(".option-group")) {
    let found = 0;
    for (const option of group.querySelectorAll("[data-option]")) {
      option.hidden = words.length > 0 && !matches(option, words);
      if (!option.hidden) found += 1;
    }
    group.hidden = found === 0;
    if (words.length > 0) group.open = found > 0;
    count += found;
  }
  const status = options.querySelector(".option-search [role=status]");
  status.textContent = words.length === 0 ? "" : count === 1 ? "1 option" : `${count} options`;
}

document.addEventListener("input", (event) => {
  const input = event.target.closest("[data-option-search]");
  if (!input) return;
  event.stopPropagation();
  search(input);
});
document.addEventListener("htmx:after:swap", () => prepare(document));
prepare(document);
