"use strict";
// The table of labels: sortable, filterable and paged.
(() => {
  const PAGE = 50;
  const FEW = 10; // rows need no filter
  const part = document.getElementById("all");
  const lines = JSON.parse(document.getElementById("lines").textContent);
  const heads = [...part.querySelectorAll("thead th")];
  const body = part.querySelector("tbody");
  const find = document.getElementById("find");
  const which = document.getElementById("which");
  const count = document.getElementById("count");
  const previous = document.getElementById("previous");
  const next = document.getElementById("next");
  const [TRUE, PREDICTED] = [1, 2];
  const KINDS = {
    all: () => true,
    predicted: (line) => line[PREDICTED] > 0,
    never: (line) => line[TRUE] > 0 && line[PREDICTED] === 0,
    absent: (line) => line[TRUE] === 0,
  };
  const names = new Intl.Collator(undefined, { numeric: true });
  let sortedBy = TRUE;
  let isAscending = false;
  let page = 0;

  function compare(a, b) {
    const [x, y] = [a[sortedBy], b[sortedBy]];
    if (x === null || y === null) return (x === null) - (y === null); // undefined values last
    const order = sortedBy === 0 ? names.compare(x, y) : x - y;
    return isAscending ? order : -order;
  }

  function cell(value, column) {
    const made = document.createElement(column === 0 ? "th" : "td");
    if (column === 0) made.scope = "row";
    else made.className = "number";
    if (value === null) made.textContent = "–";
    else if (column > PREDICTED) made.textContent = value.toFixed(3);
    else made.textContent = column === 0 ? value : value.toLocaleString("en");
    return made;
  }

  function show() {
    const wanted = find.value.trim().toLowerCase();
    const found = lines.filter(
      (line) => KINDS[which.value](line) && line[0].toLowerCase().includes(wanted)
    );
    found.sort(compare);
    page = Math.max(0, Math.min(page, Math.ceil(found.length / PAGE) - 1));
    const first = page * PAGE;
    const shown = found.slice(first, first + PAGE);
    body.replaceChildren(
      ...shown.map((line) => {
        const row = document.createElement("tr");
        row.append(...line.map(cell));
        return row;
      })
    );
    const total = found.length.toLocaleString("en");
    count.textContent = found.length
      ? `${(first + 1).toLocaleString("en")} to ${(first + shown.length).toLocaleString("en")} of ${total}`
      : "No matches.";
    previous.disabled = page === 0;
    next.disabled = first + PAGE >= found.length;
    previous.parentElement.hidden = found.length <= PAGE;
    heads.forEach((head, column) => {
      if (column !== sortedBy) head.removeAttribute("aria-sort");
      else head.setAttribute("aria-sort", isAscending ? "ascending" : "descending");
    });
  }

  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      // Sort names from A to Z, numbers from the largest.
      isAscending = column === sortedBy ? !isAscending : column === 0;
      sortedBy = column;
      page = 0;
      show();
    });
  });
  for (const [control, event] of [[find, "input"], [which, "change"]]) {
    control.addEventListener(event, () => {
      page = 0;
      show();
    });
  }
  previous.addEventListener("click", () => { page -= 1; show(); });
  next.addEventListener("click", () => { page += 1; show(); });
  part.querySelector(".controls").hidden = lines.length <= FEW;
  show();
})();
