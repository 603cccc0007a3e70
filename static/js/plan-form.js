/* The form of a new plan: its estimate follows what is typed, and what the server fills in when a procedure is chosen. */

const PAUSE_MS = 500; // after the last letter
const form = document.getElementById("plan-new");
let timer = null;

function tell() {
  clearTimeout(timer);
  form.dispatchEvent(new Event("change", { bubbles: true }));
}

form?.addEventListener("input", (event) => {
  if (!event.target.matches("input:not([type=checkbox], [type=radio], [type=search]), textarea")) return;
  clearTimeout(timer);
  timer = setTimeout(tell, PAUSE_MS);
});
document.addEventListener("htmx:after:swap", (event) => {
  if (form && event.detail?.ctx?.sourceElement?.id === "plan-usual") tell();
});
