/* Sends the request of a form.trial with the reader's key, and shows the answer (serve/site/trial.py). The key is kept in the
   fields of the page only: it is in no address, no storage and no other request. Without this script, the forms stay hidden. */
const SHOWN = ["Content-Type", "Age", "Cache-Control", "ETag", "Last-Modified", "RateLimit", "X-RateLimit-Remaining", "Retry-After", "X-Request-Id"];
const keys = [...document.querySelectorAll("[data-key]")];

for (const key of keys) {
  key.addEventListener("input", () => { for (const other of keys) other.value = key.value; });
}

for (const form of document.querySelectorAll("form.trial")) {
  form.hidden = false;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send(form);
  });
}

function address(form) {
  const query = new URLSearchParams();
  let path = form.getAttribute("action");
  for (const field of form.querySelectorAll("[name]")) {
    if ("path" in field.dataset) path = path.replace(`{${field.name}}`, encodeURIComponent(field.value.trim()));
    else if (field.value) query.set(field.name, field.value);
  }
  const text = query.toString().replaceAll("%2C", ",");
  return text ? `${path}?${text}` : path;
}

async function send(form) {
  const [said, answer, facts, code] = ["[role=status]", ".answer", "dl", "code"].map((each) => form.querySelector(each));
  const key = form.querySelector("[data-key]"), asked = address(form), begun = performance.now();
  const turn = form.dataset.turn = String(begun);
  said.textContent = `GET ${asked}`;
  answer.hidden = true;
  try {
    const headers = { Accept: "application/json", ...(key && { "X-Api-Key": key.value.trim() }) };
    const response = await fetch(asked, { headers, cache: "no-store", credentials: "omit" });
    const text = await response.text();
    if (form.dataset.turn !== turn) return; // another request was sent meanwhile
    said.textContent = `${response.status} ${response.statusText} after ${Math.round(performance.now() - begun)} ms: GET ${asked}`;
    facts.replaceChildren(...SHOWN.filter((name) => response.headers.has(name)).flatMap((name) => [
      Object.assign(document.createElement("dt"), { textContent: name }),
      Object.assign(document.createElement("dd"), { textContent: response.headers.get(name) }),
    ]));
    code.textContent = printed(text);
    answer.hidden = false;
  } catch (error) {
    said.textContent = `No answer to GET ${asked}: ${error.message}`;
  }
}

function printed(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
