/* The kind of a check, and where a number comes from, decide which fields there are: the server writes them anew. */

const form = document.getElementById("claim-form");

async function refresh(field) {
  const body = new FormData(form);
  body.set("act", "form");
  const answer = await fetch(form.action, { method: "POST", body, headers: { Accept: "text/html" } });
  if (!answer.ok || answer.redirected) return; // the sign-in has ended: sending the form says so
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const id of ["checks", "preview"]) document.getElementById(id).replaceWith(page.getElementById(id));
  document.getElementById(field)?.focus();
}

document.addEventListener("change", (event) => {
  if (form?.contains(event.target) && /-(kind|source)$/.test(event.target.name)) refresh(event.target.id);
});
