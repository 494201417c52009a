/* Completes the fields with data-complete: an editable combobox with a list (WAI-ARIA Authoring Practices).

   data-complete="one": a chosen company opens its page; "many": its symbol completes a list separated by commas.
   data-source: the address that is asked for companies. Without this script, the forms are sent as they are. */
const WAIT = 120; // milliseconds after the last key

let fields = 0;
for (const input of document.querySelectorAll("input[data-complete]")) complete(input, `companies-${++fields}`);

function complete(input, id) {
  const many = input.dataset.complete === "many";
  const list = element("ul", { id, role: "listbox", class: "completions", hidden: "" });
  const told = element("span", { role: "status", class: "unseen" });
  list.setAttribute("aria-label", "Companies");
  const state = { "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": id, role: "combobox" };
  for (const [name, value] of Object.entries(state)) input.setAttribute(name, value);
  input.after(list, told);
  let timer, asking, active = -1, found = [];

  const wanted = () => (many ? input.value.split(",").pop() : input.value).trim();

  function close() {
    clearTimeout(timer);
    asking?.abort();
    list.hidden = true;
    told.textContent = "";
    input.setAttribute("aria-expanded", "false");
    mark(-1);
  }

  function mark(place) {
    active = place;
    for (const [number, option] of [...list.children].entries()) option.setAttribute("aria-selected", String(number === place));
    if (place < 0) return input.removeAttribute("aria-activedescendant");
    input.setAttribute("aria-activedescendant", list.children[place].id);
    list.children[place].scrollIntoView({ block: "nearest" });
  }

  function choose(company) {
    close();
    if (!many) return location.assign(company.address);
    const before = input.value.split(",").slice(0, -1).map((text) => `${text.trim()}, `).join("");
    input.value = `${before}${company.symbol}, `;
    input.focus();
  }

  function leave() {
    close();
    for (const name of Object.keys(state)) input.removeAttribute(name);
    input.removeEventListener("input", wait);
  }

  async function ask() {
    const text = wanted();
    if (!text) return close();
    asking?.abort();
    asking = new AbortController();
    try {
      const address = `${input.dataset.source}?${new URLSearchParams({ text })}`;
      const response = await fetch(address, { signal: asking.signal, headers: { Accept: "application/json" } });
      if (response.status === 403) return leave(); // nobody is signed in, or without a subscription
      if (!response.ok) return close();
      show(await response.json());
    } catch (error) {
      if (error.name !== "AbortError") close();
    }
  }

  function show(companies) {
    found = companies;
    list.replaceChildren(...companies.map((company, place) => {
      const option = element("li", { id: `${id}-${place}`, role: "option", "aria-selected": "false" });
      option.append(element("strong", {}, company.symbol), " ", element("span", {}, company.name), " ", element("small", {}, company.exchange));
      option.addEventListener("pointerdown", (event) => event.preventDefault()); // the field keeps the focus
      option.addEventListener("click", () => choose(company));
      return option;
    }));
    mark(-1);
    list.hidden = !companies.length;
    input.setAttribute("aria-expanded", String(companies.length > 0));
    told.textContent = companies.length === 1 ? "1 company" : `${companies.length || "No"} companies`;
  }

  function wait() {
    clearTimeout(timer);
    timer = setTimeout(ask, WAIT);
  }

  input.addEventListener("input", wait);
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    if (event.isComposing || event.ctrlKey || event.metaKey) return;
    const steps = { ArrowDown: 1, ArrowUp: -1 };
    if (event.key in steps) {
      event.preventDefault();
      if (list.hidden) return void ask();
      const places = found.length + 1; // the field itself is one of the places
      mark(((active + 1 + steps[event.key] + places) % places) - 1);
    } else if (event.key === "Enter" && active >= 0) {
      event.preventDefault();
      choose(found[active]);
    } else if (event.key === "Escape" && !list.hidden) {
      event.preventDefault(); // the text stays; a second press empties the field
      close();
    }
  });
}

function element(tag, attributes, text = "") {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.textContent = text;
  return made;
}
