"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const text = byId("data").textContent;
  const release = JSON.parse(text);
  const options = JSON.parse(byId("options").textContent);
  const { columns, items, whole, errors, decimalsBelow, exponents, rows: pageSize, leading, longest } = options;
  const texts = new Map(Object.entries(options.texts));

  // Characters that steer how others are shown are written as escapes, as headcount does everywhere.
  const escapes = { "\t": "\\t", "\n": "\\n", "\r": "\\r" };
  const escaped = (char) => {
    const code = char.codePointAt(0);
    const hex = (digits) => code.toString(16).padStart(digits, "0");
    return escapes[char] || (code < 256 ? `\\x${hex(2)}` : code < 65536 ? `\\u${hex(4)}` : `\\U${hex(8)}`);
  };
  const visible = (value) => value.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, escaped);
  const shortened = (value) => {
    const chars = value.length > longest ? Array.from(value) : value;
    if (chars.length <= longest) return value;
    return `${chars.slice(0, longest - 1).join("")}… (${chars.length.toLocaleString("en-US")} characters)`;
  };

  const blank = (value) => /^\p{Zs}*$/u.test(value);
  const named = (value) => (value === null ? "(none)" : blank(value) ? `"${value}"` : String(value));
  // As `for_people` in Python: with the digits that the standard error of a number leaves it.
  const figure = (values, n) => {
    if (typeof values[n] !== "number") return String(values[n]);
    const error = errors[n] === null ? 0 : values[errors[n]];
    const large = Math.abs(values[n]) >= exponents[1];
    if (!whole[n] && error > 0 && (error < exponents[0] || large)) return values[n].toExponential(4);
    const decimals = error > 0 ? decimalsBelow.filter((step) => error < step).length : 1;
    const [before, ...after] = values[n].toFixed(whole[n] ? 0 : decimals).split(".");
    return [before.replace(/\B(?=(\d{3})+$)/g, ","), ...after].join(".");
  };

  const table = release.items.map((item, number) => {
    const values = columns.map((name) => item[name]);
    const names = columns.slice(0, items).map((name, n) => (texts.has(name) ? texts.get(name)[number] : named(values[n])));
    return { values, names, found: names.join("\n").toLowerCase() };
  });

  const body = byId("rows").tBodies[0];
  const heads = Array.from(byId("rows").tHead.rows[0].cells);
  let shown = table;
  let page = 0;
  let sorting = { column: options.series ? 0 : -1, down: false };

  const show = () => {
    const begin = page * pageSize;
    const fragment = document.createDocumentFragment();
    for (const row of shown.slice(begin, begin + pageSize)) {
      const line = document.createElement("tr");
      row.values.forEach((_, n) => {
        const cell = document.createElement("td");
        const inner = document.createElement("bdi");
        inner.textContent = visible(shortened(n < items ? row.names[n] : figure(row.values, n)));
        if (n >= items) cell.className = "number";
        cell.append(inner);
        line.append(cell);
      });
      fragment.append(line);
    }
    body.replaceChildren(fragment);
    const count = (number) => number.toLocaleString("en-US");
    const end = Math.min(begin + pageSize, shown.length);
    byId("status").textContent = shown.length
      ? `${count(begin + 1)} to ${count(end)} of ${count(shown.length)}`
      : "No row matches";
    const matching = shown.length < table.length ? " that match the search" : "";
    byId("printed").textContent = end - begin < table.length
      ? `Printed here: ${shown.length ? `rows ${count(begin + 1)} to ${count(end)}` : "none"} of the ` +
        `${count(shown.length)}${matching}. The HTML file of this page has all ${count(table.length)} rows.`
      : "";
    byId("previous").disabled = page === 0;
    byId("next").disabled = end >= shown.length;
  };

  const compare = new Intl.Collator("en", { numeric: true }).compare;
  const arrange = () => {
    const wanted = byId("search").value.trim().toLowerCase();
    shown = table.filter((row) => row.found.includes(wanted));
    const { column, down } = sorting;
    if (column >= 0) {
      const inOrder = column < items
        ? (a, b) => compare(a.names[column], b.names[column])
        : (a, b) => a.values[column] - b.values[column];
      shown = shown.slice().sort(down ? (a, b) => inOrder(b, a) : inOrder);
    }
    page = 0;
    show();
  };

  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      // Numbers start with the largest, names with the first.
      const down = sorting.column === column ? !sorting.down : column >= items;
      sorting = { column, down };
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      arrange();
    });
  });
  byId("search").addEventListener("input", arrange);
  byId("previous").addEventListener("click", () => { page -= 1; show(); });
  byId("next").addEventListener("click", () => { page += 1; show(); });

  const save = (name, type, content) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([content], { type }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  };
  // As headcount writes CSV: text is quoted, and none of it is a formula to a spreadsheet.
  const quoted = (value) => `"${value.replace(/"/g, '""')}"`;
  const safe = (value) => quoted(leading.some((start) => value.startsWith(start)) ? `'${value}` : value);
  const csv = () => {
    const isPrivate = release.guarantee.private;
    const header = [...columns, ...(isPrivate ? [] : ["private"])].map(safe).join(",");
    const lines = table.map((row) => row.values.map((value, n) => {
      if (typeof value === "string") return safe(value);
      if (value === null) return '""';
      return n < items ? row.names[n] : String(value);
    }).join(",") + (isPrivate ? "" : ",False"));
    return [header, ...lines, ""].join("\n");
  };
  const marked = release.guarantee.private ? "release" : "NOT-PRIVATE";
  byId("save-csv").addEventListener("click", () => save(`${marked}.csv`, "text/csv", csv()));
  byId("save-json").addEventListener("click", () => save(`${marked}.json`, "application/json", text));

  // What is folded away on the screen is unfolded on paper.
  addEventListener("beforeprint", () => {
    for (const folded of document.querySelectorAll("details")) folded.open = true;
  });

  byId("tools").hidden = false;
  byId("pager").hidden = false;
  if (options.series) heads[0].setAttribute("aria-sort", "ascending");
  arrange();
})();
