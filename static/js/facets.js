/* The filters of a comparison, searched by what one types: facts and values that match stay, all others are hidden. */

const plain = (text) => text.toLowerCase().normalize("NFD").replace(/\p{M}/gu, "").replace(/\s+/g, " ");

/* A chosen value is never hidden: what is in force stays in sight. */
function matches(box, name, words) {
  const text = `${name} ${plain(box.textContent)}`;
  return box.querySelector("input").checked || words.every((word) => text.includes(word));
}

function search(choices) {
  const words = plain(choices.querySelector("#facet-search").value).split(" ").filter(Boolean);
  let shown = 0;
  for (const facet of choices.querySelectorAll("[data-facet]")) {
    const boxes = [...facet.querySelectorAll(".check")];
    for (const box of boxes) box.hidden = !matches(box, plain(facet.dataset.facet), words);
    facet.hidden = boxes.every((box) => box.hidden);
    const folded = facet.querySelector("details");
    if (folded) folded.open = words.length > 0 && !facet.hidden;
    shown += facet.hidden ? 0 : 1;
  }
  choices.querySelector("[data-facet-count]").textContent = words.length ? `${shown} ${shown === 1 ? "filter matches" : "filters match"}` : "";
}

/* The box is there only where this script is; choices that came anew are searched by what stands in it. */
export function setUpFacets() {
  const choices = document.getElementById("facet-choices");
  const bar = choices?.querySelector("[data-facet-search]");
  if (!bar) return;
  bar.hidden = false;
  search(choices);
}

document.addEventListener("input", (event) => {
  if (event.target.id === "facet-search") search(document.getElementById("facet-choices"));
});
document.addEventListener("keydown", (event) => {
  if (event.target.id !== "facet-search") return;
  if (event.key === "Enter") event.preventDefault(); // else the form around it is sent
  if (event.key === "Escape" && event.target.value) {
    event.target.value = "";
    search(document.getElementById("facet-choices"));
    event.stopPropagation();
  }
});
setUpFacets();
