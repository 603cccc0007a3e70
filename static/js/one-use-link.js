/* The code of a one-use link stands behind the # of the address, which goes to no server. It is put into the form, out of the address and sent. */

const field = document.querySelector("[data-link-code]");
const code = location.hash.slice(1);
if (field && code) {
  history.replaceState(null, "", location.pathname);
  field.value = code;
  field.form.requestSubmit();
}
