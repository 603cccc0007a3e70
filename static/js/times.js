/* Points in time as all pages write them: `2026-11-27 04:39`, by the reader's own clock. The server writes the same in UTC. */

const zone = new Intl.DateTimeFormat("en", { timeZoneName: "short" });
const two = (number) => String(number).padStart(2, "0");

export function day(at) {
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}

export function moment(at) {
  return `${day(at)} ${two(at.getHours())}:${two(at.getMinutes())}`;
}

export function exactMoment(at) {
  const name = zone.formatToParts(at).find((part) => part.type === "timeZoneName")?.value ?? "";
  return `${moment(at)}:${two(at.getSeconds())} ${name}`.trim();
}
