/* Shows all examples of a page in the language that was chosen for one of them, and remembers it. Without this script,
   each example has its own choice (rendering.py, .tabs). */
const KEPT = "example-language";
const choices = [...document.querySelectorAll(".tabs > input")];

function language(input) {
  return document.querySelector(`label[for="${input.id}"]`).textContent;
}

function choose(name) {
  for (const input of choices) if (language(input) === name) input.checked = true;
}

for (const input of choices) {
  input.addEventListener("change", () => {
    const before = input.getBoundingClientRect().top;
    choose(language(input));
    scrollBy({ top: input.getBoundingClientRect().top - before, behavior: "instant" });
    try { localStorage.setItem(KEPT, language(input)); } catch { /* no storage: chosen for this page only */ }
  });
}

try { choose(localStorage.getItem(KEPT)); } catch { /* no storage */ }
