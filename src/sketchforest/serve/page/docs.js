"use strict";

// Send the body that was typed, and show the response.
for (const form of document.querySelectorAll("form.try")) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const output = form.querySelector("pre");
    const box = form.querySelector("textarea");
    const options = { method: form.dataset.method };
    if (box) {
      options.headers = { "Content-Type": "application/json" };
      options.body = box.value;
    }
    output.hidden = false;
    try {
      const response = await fetch(form.dataset.path, options);
      const text = await response.text();
      output.textContent = `${response.status}\n${JSON.stringify(JSON.parse(text), null, 2)}`;
    } catch (error) {
      output.textContent = `Request failed: ${error.message}`;
    }
  });
}
