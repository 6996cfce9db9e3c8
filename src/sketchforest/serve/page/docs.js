"use strict";

// Sends what stands in the box, and shows what comes back.
for (const form of document.querySelectorAll("form.try")) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const shown = form.querySelector("pre");
    const box = form.querySelector("textarea");
    const options = { method: form.dataset.method };
    if (box) {
      options.headers = { "Content-Type": "application/json" };
      options.body = box.value;
    }
    shown.hidden = false;
    try {
      const answer = await fetch(form.dataset.path, options);
      const text = await answer.text();
      shown.textContent = `${answer.status}\n${JSON.stringify(JSON.parse(text), null, 2)}`;
    } catch (error) {
      shown.textContent = `No answer: ${error.message}`;
    }
  });
}
