"use strict";
// Sort, filter, point at values. A page is whole without this: it only adds to it.
(() => {
  const make = (tag, attributes, ...inside) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      element.setAttribute(name, value);
    }
    element.append(...inside);
    return element;
  };

  // -- tables: sort by a column ------------------------------------------------------

  const number = (text) => {
    const found = text.replace(/\u2212/g, "-").match(/-?\d+(\.\d+)?(e[-+]?\d+)?/i);
    return found ? parseFloat(found[0]) : null;
  };

  const compare = (a, b, down) => {
    if (a === null || b === null) return (a === null) - (b === null); // missing last
    const order = typeof a === "number" ? a - b : a.localeCompare(b, "en", { numeric: true });
    return down ? -order : order;
  };

  const sort = (table, rows, heads, head) => {
    const numeric = head.classList.contains("vd-n");
    const turns = numeric ? ["descending", "ascending"] : ["ascending", "descending"];
    const next = turns[turns.indexOf(head.getAttribute("aria-sort")) + 1] || "none";
    for (const other of heads) other.setAttribute("aria-sort", "none");
    head.setAttribute("aria-sort", next);
    const column = heads.indexOf(head);
    const key = (row) => {
      const text = row.cells[column].textContent.trim();
      return numeric ? number(text) : text === "\u2013" ? null : text;
    };
    const sorted = rows.map((row, i) => [key(row), i, row]);
    if (next !== "none") {
      sorted.sort((a, b) => compare(a[0], b[0], next === "descending") || a[1] - b[1]);
    }
    table.tBodies[0].append(...sorted.map((entry) => entry[2]));
  };

  const sortable = (table, rows) => {
    const heads = [...table.tHead.rows[0].cells];
    for (const head of heads) {
      if (!head.textContent.trim()) continue;
      const button = make("button", { type: "button", class: "vd-sort" });
      button.append(...head.childNodes);
      head.append(button);
      head.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => sort(table, rows, heads, head));
    }
  };

  // -- long tables: show the rows that contain some words ------------------------------

  const filterable = (table, rows) => {
    const texts = rows.map((row) => row.textContent.toLowerCase());
    const input = make("input", { type: "search", autocomplete: "off" });
    const shown = make("output", {}, `${rows.length} rows`);
    input.addEventListener("input", () => {
      const words = input.value.toLowerCase().split(/\s+/);
      let n = 0;
      rows.forEach((row, i) => {
        row.hidden = !words.every((word) => texts[i].includes(word));
        n += !row.hidden;
      });
      shown.value = n < rows.length ? `${n} of ${rows.length} rows` : `${n} rows`;
    });
    const label = make("label", {}, "Only rows with ", input);
    table.closest(".vd-scroll").before(make("p", { class: "vd-filter" }, label, shown));
  };

  const plain = (table) =>
    table.tBodies.length === 1 &&
    table.tHead &&
    table.tHead.rows.length === 1 &&
    ![...table.querySelectorAll("[rowspan], [colspan]")].length;

  const liven = (table) => {
    const rows = plain(table) ? [...table.tBodies[0].rows] : [];
    if (rows.length > 3) sortable(table, rows);
    if (rows.length > 15) filterable(table, rows);
  };

  // -- boxes: a stop for the Tab key only where there is something to scroll -----------

  const scrollable = (box) => {
    const wide = box.scrollWidth > box.clientWidth;
    const tall = box.scrollHeight > box.clientHeight;
    if (wide || tall) box.setAttribute("tabindex", "0");
    else box.removeAttribute("tabindex");
  };
  const watcher = new ResizeObserver((seen) => {
    for (const entry of seen) scrollable(entry.target);
  });

  // -- pictures: the value under the pointer, or under the arrow keys ------------------

  const point = (picture) => {
    const marks = new Map();
    for (const title of [...picture.querySelectorAll("title")]) {
      marks.set(title.parentNode, title.textContent);
      title.remove(); // or the browser would show it as well
    }
    if (!marks.size) return;
    const frame = make("div", { class: "vd-frame" });
    const tip = make("p", { class: "vd-tip", role: "status" });
    picture.before(frame);
    frame.append(picture, tip);
    picture.setAttribute("tabindex", "0");
    const order = [...marks.keys()];
    let place = -1;

    const hide = () => {
      picture.querySelector(".vd-on")?.classList.remove("vd-on");
      tip.textContent = "";
    };
    const say = (text, x, y) => {
      tip.textContent = text;
      const room = frame.clientWidth - tip.offsetWidth;
      tip.style.left = `${Math.max(0, Math.min(room, x - tip.offsetWidth / 2))}px`;
      tip.style.top = `${y - tip.offsetHeight - 8}px`;
    };
    const show = (mark) => {
      if (mark.classList.contains("vd-on") && tip.textContent) return;
      hide();
      mark.classList.add("vd-on");
      place = order.indexOf(mark);
      const outer = frame.getBoundingClientRect();
      const inner = mark.getBoundingClientRect();
      say(marks.get(mark), inner.x + inner.width / 2 - outer.x, inner.y - outer.y);
    };

    const under = (event) => {
      let mark = event.target;
      while (mark !== picture && !marks.has(mark)) mark = mark.parentNode;
      if (mark !== picture) show(mark);
      else if (document.activeElement !== picture) hide();
    };
    picture.addEventListener("pointermove", under);
    picture.addEventListener("pointerdown", under);
    picture.addEventListener("pointerleave", hide);
    picture.addEventListener("blur", hide);
    picture.addEventListener("focus", () => {
      if (picture.matches(":focus-visible") && !tip.textContent) {
        say("Arrow keys go through the values.", frame.clientWidth / 2, 20);
      }
    });
    picture.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (event.key === "Escape") hide();
      if (!step) return;
      event.preventDefault();
      place = place < 0 && step < 0 ? order.length - 1 : place + step;
      show(order[(place + order.length) % order.length]);
    });
  };

  const enliven = (root) => {
    root.querySelectorAll("table").forEach(liven);
    root.querySelectorAll(".vd-scroll").forEach((box) => watcher.observe(box));
    root.querySelectorAll("svg[role=img]").forEach(point);
  };
  enliven(document);
  document.addEventListener("veridical:new", (event) => enliven(event.target));
})();
