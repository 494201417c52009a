/* Copy buttons: <button data-copy="#id" hidden>Copy</button>. Without this script they stay hidden; all else works. */
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
      // the clipboard is unavailable without https, or access was denied: select the text for Ctrl-C
      getSelection().selectAllChildren(source);
      button.textContent = "Selected: press Ctrl-C";
    }
    setTimeout(() => { button.textContent = name; }, 3000);
  });
}
