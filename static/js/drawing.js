// Pointing at a box, or moving to it with the keyboard, lights what hangs on it, to the left and to the right.
for (const drawing of document.querySelectorAll("svg.drawing")) {
  const lines = [...drawing.querySelectorAll(".line")];
  const boxes = new Map([...drawing.querySelectorAll(".box")].map((box) => [box.dataset.key, box]));

  const reached = (start, from, to) => {
    const found = new Set([start]);
    for (const key of found) {
      for (const line of lines) if (line.dataset[from] === key) found.add(line.dataset[to]);
    }
    return found;
  };

  // Far hosts and switches stand to the left; where not all fits, begin with the host and its storage.
  const around = drawing.closest(".drawing-box");
  const host = drawing.querySelector(".kind-host");
  if (around && host && around.scrollWidth > around.clientWidth) {
    around.scrollLeft = host.getBoundingClientRect().left - drawing.getBoundingClientRect().left - 14;
  }

  const clear = () => {
    drawing.classList.remove("is-tracing");
    for (const on of drawing.querySelectorAll(".is-on")) on.classList.remove("is-on");
  };

  const trace = (box) => {
    clear();
    const right = reached(box.dataset.key, "from", "to");
    const left = reached(box.dataset.key, "to", "from");
    drawing.classList.add("is-tracing");
    for (const key of [...left, ...right]) boxes.get(key)?.classList.add("is-on");
    for (const line of lines) {
      const { from, to } = line.dataset;
      if ((right.has(from) && right.has(to)) || (left.has(from) && left.has(to))) line.classList.add("is-on");
    }
  };

  for (const [kind, end] of [["pointerover", "pointerout"], ["focusin", "focusout"]]) {
    drawing.addEventListener(kind, (event) => {
      const box = event.target.closest(".box");
      if (box) trace(box);
    });
    drawing.addEventListener(end, clear);
  }
}
