/* The number of a line shows it in the text beside the table, without moving the table; Escape leads back. */

let from = null;

/* Where the text does not begin with what was read, it opens there. */
for (const box of document.querySelectorAll(".text-lines")) {
  const first = box.querySelector(".is-broken, .is-used");
  if (first && !location.hash) box.scrollTop = Math.max(0, first.offsetTop - box.offsetTop - 60);
}

document.addEventListener("click", (event) => {
  const link = event.target.closest('a[href^="#L"]');
  const line = link && document.getElementById(link.hash.slice(1));
  const box = line?.closest(".text-lines");
  if (!box) return;
  event.preventDefault();
  for (const old of box.querySelectorAll(".is-target")) old.classList.remove("is-target");
  line.classList.add("is-target");
  const top = line.offsetTop - box.offsetTop;
  if (top < box.scrollTop || top > box.scrollTop + box.clientHeight - 30) box.scrollTop = top - box.clientHeight / 3;
  if (box.getBoundingClientRect().top > innerHeight - 80 || box.getBoundingClientRect().bottom < 80) line.scrollIntoView({ block: "center" });
  line.tabIndex = -1;
  line.focus({ preventScroll: true });
  from = link;
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || !from || !document.activeElement?.closest(".text-lines")) return;
  from.focus();
  from = null;
});
