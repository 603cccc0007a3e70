/* The queue of files to send: what is shown of it, and the requests that empty it. */

const AT_ONCE = 2;
const SHOWN = 200; // rows; the files behind them are counted
const element = (id) => document.getElementById(id);

/* As the other pages write a file's size, in the base that the reader chose. */
function size(bytes) {
  const base = Number(document.documentElement.dataset.base) || 1000;
  const units = base === 1024 ? ["B", "KiB", "MiB", "GiB"] : ["B", "kB", "MB", "GB"];
  let step = 0;
  let value = bytes;
  while (value >= base && step < units.length - 1) {
    value /= base;
    step += 1;
  }
  const places = !step || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2; // toPrecision would write 1023 as 1.02e+3
  return `${value.toFixed(places)}\u00a0${units[step]}`;
}

/* Of few files each goes by itself, so that one sees them go; of thousands many at once, for what a request costs beside them. */
const SHARE = 20;
const TOGETHER = { files: 40, bytes: 1 << 20 };

/* A browser lets nobody read a file that is another one by now. */
async function isReadable(file) {
  try {
    await file.slice(0, 1).arrayBuffer();
    return true;
  } catch {
    return false;
  }
}

export class Sender {
  constructor(form) {
    this.form = form;
    this.most = Number(form.dataset.most);
    this.all = [];
    this.running = new Set();
    addEventListener("beforeunload", (event) => this.running.size && event.preventDefault());
  }

  add(files) {
    for (const { file, path } of files) {
      const one = { file, path, sent: 0, state: "waiting", row: null };
      if (file.size > this.most) this.fail(one, `Found ${size(file.size)}, expected at most ${size(this.most)}; send it in parts.`);
      this.all.push(one);
      if (this.all.length <= SHOWN) this.show(one);
    }
    this.draw();
  }

  show(one) {
    const row = element("sending-files").insertRow();
    one.row = row;
    const head = document.createElement("th");
    head.scope = "row";
    head.className = "wrap";
    head.textContent = one.path;
    row.append(head);
    const bytes = row.insertCell();
    bytes.className = "num";
    bytes.textContent = size(one.file.size);
    const sent = document.createElement("div");
    sent.className = "sent";
    one.bar = document.createElement("progress");
    one.bar.max = 1;
    one.bar.value = 0;
    one.bar.setAttribute("aria-label", `Sent of ${one.path}`);
    one.word = document.createElement("span");
    sent.append(one.bar, one.word);
    row.insertCell().append(sent);
    this.mark(one);
  }

  mark(one) {
    if (!one.word) return;
    one.bar.value = one.state === "sent" ? 1 : one.file.size ? one.sent / one.file.size : 0;
    one.bar.hidden = one.state === "failed";
    one.word.textContent = one.state === "failed" ? one.why : one.state === "sending" ? `${Math.floor(one.bar.value * 100)}\u00a0%` : one.state;
    one.word.className = one.state === "failed" ? "row-problem" : "muted";
    one.row.classList.toggle("is-sending", one.state === "sending");
  }

  fail(one, why) {
    Object.assign(one, { state: "failed", why, sent: 0 });
    this.mark(one);
  }

  count(state) {
    return this.all.filter((one) => one.state === state).length;
  }

  draw() {
    this.frame = null;
    const total = this.all.reduce((sum, one) => sum + one.file.size, 0);
    const sent = this.all.reduce((sum, one) => sum + (one.state === "sent" ? one.file.size : one.sent), 0);
    const share = total ? sent / total : this.count("sent") / (this.all.length || 1);
    const [waiting, failed, busy] = [this.count("waiting"), this.count("failed"), this.running.size > 0];
    element("sending").hidden = !this.all.length;
    element("sending-all").value = share;
    element("sending-percent").textContent = `${Math.floor(share * 100)}\u00a0%`;
    element("send").textContent = failed && !waiting ? "Try again" : waiting ? `Upload ${waiting} file${waiting === 1 ? "" : "s"}` : "Upload";
    element("send").disabled = busy;
    element("stop").hidden = !busy;
    element("clear").hidden = busy || !this.all.length;
    const more = this.all.length > SHOWN ? `; the first ${SHOWN} are listed` : "";
    if (this.all.length) this.say(`${this.count("sent")} of ${this.all.length} files sent, ${size(total)}${failed ? `, ${failed} failed` : ""}${more}.`);
  }

  /* Once a frame: drawing adds up all files, of which there may be thousands. */
  drawSoon() {
    this.frame ??= requestAnimationFrame(() => this.running.size ? this.draw() : (this.frame = null));
  }

  say(text) {
    element("sending-note").textContent = text;
  }

  clear() {
    this.all = [];
    element("sending-files").replaceChildren();
    this.draw();
    this.say("");
  }

  stop() {
    this.isStopped = true;
    for (const request of this.running) if (!request.isThere) request.abort(); // all of it has left, and may have arrived
  }

  async start() {
    for (const one of this.all) if (one.state === "failed" && one.file.size <= this.most && !one.isGone) this.wait(one);
    if (!this.count("waiting")) {
      this.say(this.all.length ? "Nothing here can be sent." : "Choose files, drop them, or paste text first.");
      return;
    }
    this.isStopped = this.isRefused = false;
    this.place = 0;
    try {
      await this.renew();
      this.upload ??= await this.open();
    } catch (error) {
      if (this.isRefused) this.refused();
      else this.say(error.message);
      return;
    }
    await Promise.all(Array.from({ length: AT_ONCE }, () => this.lane()));
    this.draw();
    if (this.isRefused) this.refused();
    else if (this.isStopped) this.say("Stopped. What was sent is here already; Upload goes on with the rest.");
    else if (!this.count("failed")) location.assign(this.upload.page);
    else this.after();
  }

  /* The list of files is only in this page, so nobody should have to leave it. */
  refused() {
    const link = document.createElement("a");
    link.href = this.form.dataset.signIn;
    link.target = "_blank";
    link.textContent = "Sign in in another tab";
    element("sending-note").replaceChildren("Your sign-in has ended. ", link, ", then go on here; what was sent is here already.");
  }

  /* Who signed in again meanwhile has another token against forged requests. */
  async renew() {
    if (!this.needsToken) return;
    const answer = await fetch(location.href, { headers: { Accept: "text/html" } }).catch(() => null);
    if (!answer?.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const token = page.querySelector("[name=csrfmiddlewaretoken]");
    if (token) this.form.elements.csrfmiddlewaretoken.value = token.value;
    this.needsToken = false;
  }

  /* Some failed: what did arrive can be looked at. */
  after() {
    if (!this.count("sent")) return;
    const link = document.createElement("a");
    link.href = this.upload.page;
    link.textContent = "See what arrived";
    element("sending-note").append(" ", link);
  }

  async open() {
    const data = new FormData(this.form);
    data.delete("file");
    data.delete("pasted");
    data.set("name", this.name());
    const answer = await this.request(this.form.action, data);
    if (answer.status !== 201) throw new Error(this.why(answer));
    return JSON.parse(answer.responseText);
  }

  name() {
    const tops = [...new Set(this.all.map((one) => one.path.split("/")[0]))];
    return tops.length > 1 ? `${tops[0]} and ${tops.length - 1} more` : tops[0];
  }

  /* The files of the next request: one, or small ones together. */
  next() {
    const most = Math.min(TOGETHER.files, Math.max(1, Math.floor(this.count("waiting") / SHARE)));
    const found = [];
    let bytes = 0;
    for (; this.place < this.all.length && found.length < most; this.place += 1) {
      const one = this.all[this.place];
      if (one.state !== "waiting") continue;
      if (found.length && bytes + one.file.size > TOGETHER.bytes) break;
      bytes += one.file.size;
      found.push(one);
    }
    return found;
  }

  async lane() {
    let some;
    while (!this.isStopped && !this.isRefused && (some = this.next()).length) {
      const data = new FormData();
      for (const one of some) {
        one.state = "sending";
        this.mark(one);
        data.append("path", one.path);
        data.append("file", one.file, one.file.name);
      }
      this.follow(some[0]);
      const answer = await this.request(this.upload.add, data, (event) => this.progress(some, event.loaded));
      if (!(await this.withoutGone(some, answer))) for (const one of some) this.end(one, answer);
      this.drawSoon();
    }
  }

  progress(some, loaded) {
    let before = 0;
    for (const one of some) {
      one.sent = Math.min(Math.max(0, loaded - before), one.file.size);
      before += one.file.size;
      this.mark(one);
    }
    this.drawSoon();
  }

  end(one, answer) {
    if (answer.status === 201) one.state = "sent";
    else if (this.isStopped || this.isRefused) this.wait(one);
    else this.fail(one, this.why(answer));
    this.mark(one);
  }

  /* One that cannot be read any more breaks the request of all that go with it: the others go again. */
  async withoutGone(some, answer) {
    if (answer.status || this.isStopped) return false;
    const readable = await Promise.all(some.map((one) => isReadable(one.file)));
    if (readable.every(Boolean)) return false;
    for (const [place, one] of some.entries()) {
      if (readable[place]) this.wait(one);
      else this.fail(one, "It was changed or removed since it was chosen; choose it again.");
      one.isGone = !readable[place];
      this.mark(one);
    }
    this.place = Math.min(this.place, this.all.indexOf(some[0]));
    return true;
  }

  wait(one) {
    Object.assign(one, { state: "waiting", sent: 0 });
  }

  /* The list moves along with what is sent, unless somebody reads in it. */
  follow(one) {
    const list = element("sending-files").closest(".scroll");
    if (!one.row || list.matches(":hover, :focus-within")) return;
    list.scrollTop = one.row.offsetTop - list.clientHeight / 2;
  }

  request(address, data, progress) {
    return new Promise((resolve) => {
      const request = new XMLHttpRequest();
      request.open("POST", address);
      request.setRequestHeader("Accept", "application/json");
      request.setRequestHeader("X-CSRFToken", this.form.elements.csrfmiddlewaretoken.value);
      if (progress) request.upload.addEventListener("progress", progress);
      request.upload.addEventListener("load", () => { request.isThere = true; });
      this.running.add(request);
      request.addEventListener("loadend", () => {
        this.running.delete(request);
        this.isRefused ||= request.status === 401; // nobody is signed in any more: the rest would be refused as well
        this.needsToken ||= this.isRefused || request.status === 403;
        resolve(request);
      });
      request.send(data);
    });
  }

  why(answer) {
    try {
      const { error } = JSON.parse(answer.responseText);
      if (error) return error;
    } catch {
      // a page, or nothing
    }
    if (!answer.status) return "The connection broke; try again.";
    return answer.status === 403 ? "Your role or your sign-in does not cover this; sign in anew and try again." : `The server answered ${answer.status}; try again.`;
  }
}
