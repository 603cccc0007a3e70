/* The form of a new schedule begins with the reader's own time zone, where the lab has used none yet. */

const zones = document.querySelector("select[name=time_zone]");
const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
if (zones && zones.value === "UTC" && [...zones.options].some((option) => option.value === own)) zones.value = own;
