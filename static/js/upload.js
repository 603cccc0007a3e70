/* Files, folders and archives, sent one after another into one upload, with a bar for each. Without this script the
   form sends its files at once. */

import { Sender } from "./sending.js";

const form = document.getElementById("upload-form");
const drop = document.getElementById("drop");
const sender = new Sender(form);

/* Everything in a dropped folder, with its path. */
async function within(entry, before, found) {
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
    found.push({ file, path: before + file.name });
    return;
  }
  const reader = entry.createReader();
  let some;
  do {
    some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject)); // at most 100 at once
    for (const one of some) await within(one, `${before}${entry.name}/`, found);
  } while (some.length);
}

async function dropped(transfer) {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (!entries.length) return [...transfer.files].map((file) => ({ file, path: file.name }));
  const found = [];
  for (const entry of entries) await within(entry, "", found);
  return found;
}

for (const input of form.querySelectorAll('input[type="file"]')) {
  input.addEventListener("change", () => {
    sender.add([...input.files].map((file) => ({ file, path: file.webkitRelativePath || file.name })));
    input.value = "";
  });
}
/* Files that miss the frame count too: a browser would otherwise leave the page and open the first of them. Dragged text
   still goes where it is dropped. */
const bringsFiles = (event) => event.dataTransfer?.types.includes("Files");

for (const name of ["dragenter", "dragover"]) {
  addEventListener(name, (event) => {
    if (!bringsFiles(event)) return;
    event.preventDefault();
    drop.classList.add("is-over");
  });
}
addEventListener("dragleave", (event) => event.relatedTarget || drop.classList.remove("is-over"));
addEventListener("drop", async (event) => {
  if (!bringsFiles(event)) return;
  event.preventDefault();
  drop.classList.remove("is-over");
  try {
    sender.add(await dropped(event.dataTransfer));
  } catch (error) {
    sender.say(`What was dropped cannot be read: ${error.message}.`);
  }
});
form.addEventListener("submit", (event) => {
  event.preventDefault();
  const text = form.elements.pasted.value;
  if (text.trim()) {
    sender.add([{ file: new File([text], "pasted.txt"), path: "pasted.txt" }]);
    form.elements.pasted.value = "";
  }
  sender.start();
});
document.getElementById("stop").addEventListener("click", () => sender.stop());
document.getElementById("clear").addEventListener("click", () => sender.clear());
