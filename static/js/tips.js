/* What a `title` says to the pointer is said to the keyboard too: shown beside the element that has the focus, until
   Escape or the focus goes. */

const tip = Object.assign(document.createElement("div"), { className: "tip", hidden: true, id: "tip" });
tip.setAttribute("role", "tooltip");
document.body.append(tip);
let of = null;

function place(element) {
  const { left, bottom, top } = element.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = tip;
  tip.style.left = `${Math.max(8, Math.min(left, innerWidth - width - 8))}px`;
  tip.style.top = `${bottom + height + 10 > innerHeight ? top - height - 6 : bottom + 6}px`;
}

function show(event) {
  const element = event.target.closest?.("a, button, [tabindex]");
  const text = element?.title || element?.closest("[title]")?.title;
  if (!element || !text || !element.matches(":focus-visible")) return hide();
  tip.textContent = text;
  tip.hidden = false;
  of = element;
  return place(of);
}

function hide() {
  tip.hidden = true;
}

document.addEventListener("focusin", show);
document.addEventListener("focusout", hide);
document.addEventListener("scroll", () => tip.hidden || place(of), { capture: true, passive: true });
document.addEventListener("keydown", (event) => event.key === "Escape" && hide());
