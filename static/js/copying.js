/* Copies what the address beside a button answers, such as a table in a wiki's words. */

async function copy(button) {
  const status = document.querySelector("[data-copy-status]");
  try {
    const answer = await fetch(button.dataset.copyText);
    if (answer.redirected || answer.status === 401) throw new Error("your sign-in has ended"); // or the form to sign in is copied
    if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
    await navigator.clipboard.writeText(await answer.text());
    button.textContent = "Copied";
    status.textContent = "Copied.";
  } catch (error) {
    status.textContent = `Not copied (${error.message}): open the link and copy from there.`;
  }
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-copy-text]");
  if (button) copy(button);
});
