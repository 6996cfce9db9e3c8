// What scrolls can be scrolled by the keyboard, too.
document.addEventListener("DOMContentLoaded", () => {
  for (const part of document.querySelectorAll(".bd-article table, .bd-article figure")) {
    if (part.scrollWidth > part.clientWidth) part.tabIndex = 0;
  }
});
