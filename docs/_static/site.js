// Make scrollable elements focusable, so that they can be scrolled with the keyboard.
document.addEventListener("DOMContentLoaded", () => {
  for (const part of document.querySelectorAll(".bd-article table, .bd-article figure")) {
    if (part.scrollWidth > part.clientWidth) part.tabIndex = 0;
  }
});

// Copy code without prompts. In blocks with prompts, copy only the commands, not their output.
function codeOf(text) {
  const lines = text.trimEnd().split("\n");
  if (!/^(\$|>>>) /.test(lines[0])) return text.trimEnd();
  const copied = [];
  let continues = false;
  for (const line of lines) {
    const [prompt] = /^(\$|>>>|\.\.\.)( |$)/.exec(line) ?? [null];
    if (prompt === null && !continues) continue;
    copied.push(prompt === null ? line : line.slice(prompt.length));
    continues = copied.at(-1).endsWith("\\");
  }
  return copied.join("\n");
}

document.addEventListener("DOMContentLoaded", () => {
  if (!navigator.clipboard) return;
  for (const block of document.querySelectorAll(".bd-article div.highlight")) {
    const code = codeOf(block.textContent);
    const button = document.createElement("button");
    button.className = "copy-code";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(code);
      button.textContent = "Copied";
      setTimeout(() => (button.textContent = "Copy"), 1500);
    });
    block.append(button);
  }
});
