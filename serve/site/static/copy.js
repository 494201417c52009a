/* Buttons that copy: <button data-copy="#id" hidden>Copy</button>. Without this file nothing is missing but them. */
for (const button of document.querySelectorAll("button[data-copy]")) {
  const source = document.querySelector(button.dataset.copy);
  if (!source) continue;
  const name = button.textContent;
  button.hidden = false;
  button.setAttribute("aria-live", "polite");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(source.textContent.trim());
      button.textContent = "Copied";
    } catch {
      // no clipboard outside of https, or it was refused: select the text, so that Ctrl-C takes it
      getSelection().selectAllChildren(source);
      button.textContent = "Selected: press Ctrl-C";
    }
    setTimeout(() => { button.textContent = name; }, 3000);
  });
}
