/* What every page needs: times in the reader's zone, forms that send themselves or must not, copy buttons, confirmations,
   titles for the keyboard. */

import { exactMoment, moment } from "./times.js";
import "./tips.js";

export function localTimes(root) {
  for (const element of root.querySelectorAll("time[datetime]:not([data-local])")) {
    const at = new Date(element.dateTime);
    if (Number.isNaN(at.getTime())) continue;
    element.dataset.local = "";
    element.textContent = moment(at);
    element.title = exactMoment(at);
  }
}

function submitOnChange(event) {
  const field = event.target.closest("[data-submit-on-change]");
  if (field) field.form.requestSubmit();
}

function confirmFirst(event) {
  const question = event.target.dataset.confirm;
  if (question && !window.confirm(question)) event.preventDefault();
}

/* Enter on a tick presses a form's first button, which Chromium looks for past disabled ones. Where a form has several
   buttons nobody can tell which one is meant, so that nothing is pressed. */
function keepTicks(event) {
  if (event.key !== "Enter" || event.target.type !== "checkbox" || !event.target.form) return;
  const buttons = [...event.target.form.elements].filter((element) => element.type === "submit");
  if (buttons.length > 1) event.preventDefault();
}

function closeMenus(event) {
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    if (event.key === "Escape") {
      menu.open = false;
      menu.querySelector("summary").focus();
    } else if (event.type === "click" && !menu.contains(event.target)) menu.open = false;
  }
}

async function copy(event) {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const source = document.getElementById(button.dataset.copy);
  const text = source.value ?? source.textContent;
  try {
    await navigator.clipboard.writeText(text.trim());
    button.textContent = "Copied";
  } catch {
    // no clipboard over plain http: select it, so that one key copies it
    if (source.select) source.select();
    else getSelection().selectAllChildren(source);
    button.textContent = "Selected: press Ctrl+C";
  }
}

/* A page that waits for something the server does by itself looks again after a while. */
function lookAgain() {
  const waiting = document.querySelector("[data-reload-after]");
  if (waiting) setTimeout(() => location.reload(), Number(waiting.dataset.reloadAfter));
}

/* A part that asks for itself again and again does not close what the reader has opened in it. */
let opened = [];

function rememberOpened() {
  opened = [...document.querySelectorAll("[hx-trigger*=every] details[open]")];
}

function openAgain() {
  for (const details of opened) if (details.isConnected) details.open = true;
  opened = [];
}

document.addEventListener("change", submitOnChange);
document.addEventListener("submit", confirmFirst);
document.addEventListener("click", copy);
document.addEventListener("click", closeMenus);
document.addEventListener("keydown", closeMenus);
document.addEventListener("keydown", keepTicks);
document.addEventListener("htmx:before:swap", rememberOpened);
document.addEventListener("htmx:after:swap", openAgain);
document.addEventListener("htmx:after:swap", () => localTimes(document));
localTimes(document);
lookAgain();
