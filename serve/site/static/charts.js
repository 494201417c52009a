/* The crosshair of the charts: with the mouse, a finger or the arrow keys, in all charts of the page at once.

   Each <svg class="plot"> has one <a class="point"> for each period, with data-x, data-y (empty without a value),
   data-says and data-note. The paragraph before the chart (its first link and the text after it) shows the point.
   Without this script, that paragraph shows the newest value, and marks have tooltips and links. */
const SVG = "http://www.w3.org/2000/svg";
const plots = [...document.querySelectorAll("svg.plot")].map((svg) => {
  const card = svg.closest("section");
  const points = [...svg.querySelectorAll("a.point")];
  const shown = card.querySelector("h3 + p");
  const link = shown.querySelector("a");
  const note = link.nextSibling;
  const title = card.querySelector("h3").textContent;
  const first = { says: link.textContent, note: note.textContent, to: link.getAttribute("href") };
  return { svg, points, link, note, title, first, place: -1 };
});

function made(name, attributes, parent) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  parent.append(element);
  return element;
}

/* Point at a period in all charts; -1: at none. */
function point(place) {
  for (const plot of plots) {
    const at = plot.points[place];
    plot.place = at ? place : -1;
    plot.cross.classList.toggle("on", Boolean(at));
    const { says, note, to } = at
      ? { says: at.dataset.says, note: at.dataset.note, to: at.getAttribute("href") }
      : plot.first;
    plot.link.textContent = says;
    if (to) plot.link.setAttribute("href", to); else plot.link.removeAttribute("href");
    plot.note.textContent = ` ${note.trim()}`;
    if (!at) continue;
    plot.line.setAttribute("d", `M${at.dataset.x} 4V${plot.bottom}`);
    plot.dot.toggleAttribute("hidden", !at.dataset.y);
    plot.dot.setAttribute("cx", at.dataset.x);
    plot.dot.setAttribute("cy", at.dataset.y || 0);
    plot.handle.setAttribute("aria-valuenow", place + 1);
    plot.handle.setAttribute("aria-valuetext", `${says} ${note}`);
  }
}

function nearest(plot, event) {
  const box = plot.svg.getBoundingClientRect();
  const x = (event.clientX - box.left) * (plot.svg.viewBox.baseVal.width / box.width);
  const away = plot.points.map((each) => Math.abs(each.dataset.x - x));
  return away.indexOf(Math.min(...away));
}

for (const plot of plots) {
  const { svg, points, title } = plot;
  const { width, height } = svg.viewBox.baseVal;
  plot.bottom = height - 22;
  for (const child of svg.children) child.setAttribute("aria-hidden", "true");
  plot.cross = made("g", { class: "cross", "aria-hidden": "true" }, svg);
  plot.line = made("path", {}, plot.cross);
  plot.dot = made("circle", { r: 3.5 }, plot.cross);
  const last = points.findLastIndex((each) => each.dataset.y);
  plot.handle = made("rect", {
    class: "handle", width, height, rx: 6, tabindex: 0, role: "slider", "aria-label": title,
    "aria-valuemin": 1, "aria-valuemax": points.length, "aria-valuenow": last + 1,
    "aria-valuetext": `${plot.first.says} ${plot.first.note}`,
  }, svg);
  svg.removeAttribute("aria-hidden");

  plot.handle.addEventListener("pointermove", (event) => point(nearest(plot, event)));
  plot.handle.addEventListener("pointerdown", (event) => {
    plot.isTouched = event.pointerType === "touch";
    point(nearest(plot, event));
  });
  plot.handle.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse") point(-1); });
  plot.handle.addEventListener("focus", () => { if (plot.handle.matches(":focus-visible") && plot.place < 0) point(last); });
  // after a touch the crosshair stays, for the next touch may be of the link
  plot.handle.addEventListener("blur", () => { if (!plot.isTouched) point(-1); });
  plot.handle.addEventListener("keydown", (event) => {
    const now = plot.place < 0 ? last : plot.place;
    const to = {
      ArrowLeft: now - 1, ArrowDown: now - 1, ArrowRight: now + 1, ArrowUp: now + 1,
      PageDown: now - 4, PageUp: now + 4, Home: 0, End: points.length - 1,
    }[event.key];
    plot.isTouched = false;
    if (to !== undefined) point(Math.min(Math.max(to, 0), points.length - 1));
    else if (event.key === "Escape") point(-1);
    else if (event.key === "Enter" && plot.link.href) plot.link.click();
    else return;
    event.preventDefault();
  });
  // a finger moves the crosshair first, and then uses the link above the chart
  plot.handle.addEventListener("click", (event) => {
    if (event.pointerType !== "touch" && plot.link.href) plot.link.click();
  });
}
