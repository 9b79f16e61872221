// The cron helper of the job form: presets and tabs write the expression, and what is
// typed updates them. write, read and preset know no page; a browser test gives what
// they make to the parser of the center.

/**
 * @typedef {{kind: string, n?: number[], list?: number[], text?: string}} Choice
 * @typedef {Record<string, Choice>} State one choice for each unit
 */

const units = {
  second: { min: 0, max: 59 }, minute: { min: 0, max: 59 }, hour: { min: 0, max: 23 }, day: { min: 1, max: 31 },
  month: { min: 1, max: 12, names: "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split(" ") },
  weekday: { min: 1, max: 7, names: "SUN MON TUE WED THU FRI SAT".split(" ") },
  year: { min: 1970, max: 9999 },
};
const order = Object.keys(units);

/** clamp makes whatever was typed a whole number between two others. */
const clamp = (value, min, max) => Math.min(max, Math.max(min, Math.trunc(Number(value)) || min));

// --- the expression ----------------------------------------------------------

/** token writes one field. @param {string} unit @param {Choice} c */
function token(unit, c) {
  const { min, max, names } = units[unit];
  const at = (i) => clamp(c.n?.[i] ?? min, min, max);
  const name = (v) => (unit === "weekday" ? names[v - 1] : String(v));
  switch (c.kind) {
    case "none": return unit === "year" ? "" : "?";
    case "range": {
      let [a, b] = [at(0), at(1)];
      if (unit === "year" && b < a) [a, b] = [b, a]; // years do not wrap around
      return a === b ? name(a) : name(a) + "-" + name(b);
    }
    case "step": return at(0) + "/" + clamp(c.n?.[1], 1, max);
    case "pick": {
      const list = [...new Set(c.list)].filter((v) => v >= min && v <= max).sort((a, b) => a - b);
      return list.length === 0 || list.length === max - min + 1 ? "*" : list.map(name).join(",");
    }
    case "nearest": return at(0) + "W";
    case "last": return "L";
    case "lastwork": return "LW";
    case "lastof": return at(0) + "L";
    case "nth": return at(0) + "#" + clamp(c.n?.[1], 1, 5);
    case "other": return c.text || "*";
  }
  return "*";
}

/** value reads a number or a name; NaN when it is neither. */
function value(unit, text) {
  const { min, max, names } = units[unit];
  const v = /^\d{1,4}$/.test(text) ? Number(text) : (names?.indexOf(text) ?? -1) + min;
  return v >= min && v <= max && (names?.includes(text) || /^\d/.test(text)) ? v : NaN;
}

/** choice reads one field; what the tabs cannot tell is kept as it is. @returns {Choice} */
function choice(unit, text) {
  const { min } = units[unit];
  const known = (c) => ([...(c.n ?? []), ...(c.list ?? [])].some(Number.isNaN) ? { kind: "other", text } : c);
  let m;
  if (text === "*") return { kind: "every" };
  if (text === "?" && (unit === "day" || unit === "weekday")) return { kind: "none" };
  if (unit === "day" && text === "L") return { kind: "last" };
  if (unit === "day" && text === "LW") return { kind: "lastwork" };
  if (unit === "day" && (m = /^(\d+)W$/.exec(text))) return known({ kind: "nearest", n: [value(unit, m[1])] });
  if (unit === "weekday" && (m = /^(\w+)#(\d)$/.exec(text))) return known({ kind: "nth", n: [value(unit, m[1]), Number(m[2])] });
  if (unit === "weekday" && (m = /^(\w+)L$/.exec(text))) return known({ kind: "lastof", n: [value(unit, m[1])] });
  if (unit !== "year" && (m = /^(\*|\d*)\/(\d+)$/.exec(text))) {
    return known({ kind: "step", n: [/\d/.test(m[1]) ? value(unit, m[1]) : min, Number(m[2])] });
  }
  if ((m = /^(\w+)-(\w+)$/.exec(text))) return known({ kind: "range", n: [value(unit, m[1]), value(unit, m[2])] });
  if (unit === "year") return /^\d+$/.test(text) ? known({ kind: "range", n: [value(unit, text), value(unit, text)] }) : { kind: "other", text };
  return known({ kind: "pick", list: text.split(",").map((t) => value(unit, t)) });
}

/**
 * read takes an expression apart; null when it has not 6 or 7 fields.
 * @param {string} text @returns {State | null}
 */
export function read(text) {
  const texts = text.toUpperCase().split(/[ \t]+/).filter((t) => t && !t.startsWith("CRON_TZ="));
  if (texts.length !== 6 && texts.length !== 7) return null;
  return Object.fromEntries(order.map((unit, i) => [unit, i < texts.length ? choice(unit, texts[i]) : { kind: "none" }]));
}

/**
 * write makes the expression. It is always one that the center takes: of day and weekday
 * one is ?, and days that never come become the last day of the month.
 * @param {State} state @param {Date} [now] @param {string} [last] the unit that was changed last @returns {string}
 */
export function write(state, now = new Date(), last = "") {
  const s = structuredClone(state);
  for (const unit of order) s[unit] ??= { kind: unit === "weekday" || unit === "year" ? "none" : "every" };
  // Choosing a day takes the weekday away, and the other way round.
  if (s.day.kind !== "none" && s.weekday.kind !== "none") {
    const weekday = last === "weekday" || (last !== "day" && s.day.kind === "every");
    s[weekday ? "day" : "weekday"] = { kind: "none" };
  } else if (s.day.kind === "none" && s.weekday.kind === "none") {
    if (last === "day") s.weekday = { kind: "pick", list: [] };
    else s.day = { kind: "every" };
  }
  if (!comes(s, now)) s.year = { kind: "none" };
  if (!comes(s, now)) {
    if (s.day.kind !== "none") s.day = { kind: "last" };
    else s.weekday = { kind: "lastof", n: s.weekday.n };
  }
  return order.map((unit) => token(unit, s[unit])).filter(Boolean).join(" ");
}

/** comes looks for a day that fits within the 40 years from the day after tomorrow on. */
function comes(s, now) {
  const sets = Object.fromEntries(["day", "month", "weekday", "year"].map((unit) => [unit, set(unit, s[unit])]));
  if (Object.values(sets).some((f) => f === null)) return true; // typed by hand: the center says what it thinks
  const years = s.year.kind === "range" ? [clamp(s.year.n?.[0], 1970, 9999), clamp(s.year.n?.[1], 1970, 9999)] : [0];
  const first = Math.max(now.getUTCFullYear(), Math.min(...years));
  const at = new Date(Date.UTC(first, 0, 1));
  const soon = now.getTime() + 2 * 86400e3;
  for (; at.getUTCFullYear() < first + 40 && at.getUTCFullYear() < 9999; at.setUTCDate(at.getUTCDate() + 1)) {
    const [y, m, d] = [at.getUTCFullYear(), at.getUTCMonth() + 1, at.getUTCDate()];
    const length = new Date(Date.UTC(y, m, 0)).getUTCDate();
    if (at.getTime() > soon && sets.year(y) && sets.month(m) && sets.day(d, length) && sets.weekday(at.getUTCDay() + 1, length, d)) return true;
  }
  return false;
}

/** set tells which values a choice takes; null when that is not known. */
function set(unit, c) {
  const { min, max } = units[unit];
  const at = (i) => clamp(c.n?.[i] ?? min, min, max);
  switch (c.kind) {
    case "every": case "none": return () => true;
    case "range":
      if (unit === "year") return (v) => v >= Math.min(at(0), at(1)) && v <= Math.max(at(0), at(1));
      return at(0) <= at(1) ? (v) => v >= at(0) && v <= at(1) : (v) => v >= at(0) || v <= at(1);
    case "step": return (v) => v >= at(0) && (v - at(0)) % clamp(c.n?.[1], 1, max) === 0;
    case "pick": return (v) => token(unit, c) === "*" || c.list.includes(v);
    case "nearest": return (v, length) => length >= at(0);
    case "last": case "lastwork": return () => true;
    case "lastof": return () => true;
    case "nth": return (v, length, d) => v === at(0) && Math.ceil(d / 7) === clamp(c.n?.[1], 1, 5);
  }
  return null;
}

// --- presets -------------------------------------------------------------------

/** What each preset asks for. */
const parts = {
  seconds: ["n"], minutes: ["n"], hours: ["n"], daily: ["time"], weekdays: ["time"], weekly: ["weekday", "time"], monthly: ["day", "time"], lastday: ["time"],
};

/**
 * preset writes the expression of a preset.
 * @param {string} name @param {{n?: number|string, weekday?: number|string, day?: number|string, time?: string}} p @returns {string}
 */
export function preset(name, p) {
  const [h, m] = (/^\d\d:\d\d/.test(p.time ?? "") ? p.time : "00:00").split(":").map(Number);
  const each = (max) => { const n = clamp(p.n, 1, max); return n === 1 ? "*" : "*/" + n; };
  switch (name) {
    case "seconds": return each(59) + " * * * * ?";
    case "minutes": return "0 " + each(59) + " * * * ?";
    case "hours": return "0 0 " + each(23) + " * * ?";
    case "daily": return `0 ${m} ${h} * * ?`;
    case "weekdays": return `0 ${m} ${h} ? * MON-FRI`;
    case "weekly": return `0 ${m} ${h} ? * ${units.weekday.names[clamp(p.weekday, 1, 7) - 1]}`;
    case "monthly": return `0 ${m} ${h} ${clamp(p.day, 1, 31)} * ?`;
    case "lastday": return `0 ${m} ${h} L * ?`;
  }
  return "";
}

/** asPreset finds the preset that makes an expression. @returns {{name: string, n?: number, weekday?: number, day?: number, time?: string} | null} */
export function asPreset(text) {
  const s = read(text);
  if (!s || /CRON_TZ=/i.test(text)) return null;
  const pad = (v) => String(v).padStart(2, "0");
  const one = (c) => (c.kind === "pick" && c.list.length === 1 ? c.list[0] : NaN);
  const step = (c) => (c.kind === "every" ? 1 : c.kind === "step" && c.n[0] === 0 ? c.n[1] : NaN);
  const found = {
    time: pad(one(s.hour)) + ":" + pad(one(s.minute)), day: one(s.day),
    weekday: s.weekday.kind === "range" && s.weekday.n[0] === s.weekday.n[1] ? s.weekday.n[0] : one(s.weekday),
  };
  const canon = write(s);
  for (const name of Object.keys(parts)) {
    const p = { ...found, n: step(s[{ seconds: "second", minutes: "minute", hours: "hour" }[name] ?? "year"]) };
    if (parts[name].some((part) => /NaN/.test(String(p[part])))) continue;
    const made = preset(name, p);
    if (write(/** @type {State} */ (read(made))) === canon) return { name, ...p };
  }
  return null;
}

// --- the page --------------------------------------------------------------------

/** attach brings a helper to life. @param {HTMLElement} box */
function attach(box) {
  const field = /** @type {HTMLInputElement} */ (document.getElementById(box.dataset.cron));
  const panel = (unit) => box.querySelector(`[data-unit="${unit}"]`);
  const chosen = /** @type {HTMLSelectElement} */ (box.querySelector("#cron-preset"));
  const part = (name) => box.querySelector(`[data-part="${name}"]`);

  /** collect reads the tabs. @returns {State} */
  const collect = () => Object.fromEntries(order.map((unit) => {
    const kind = panel(unit).querySelector(`input[type="radio"]:checked`)?.value ?? "every";
    const line = panel(unit).querySelector(`[data-kind="${kind}"]`);
    return [unit, {
      kind, text: panel(unit).querySelector("[data-other] code").textContent,
      n: [...(line?.querySelectorAll("[data-n]") ?? [])].map((e) => clamp(e.value, e.min ? Number(e.min) : 1, Number(e.max) || 7)),
      list: [...(line?.querySelectorAll(`[type="checkbox"]:checked`) ?? [])].map((e) => Number(e.value)),
    }];
  }));

  /** show draws what the field says. */
  function show() {
    const state = read(field.value);
    const known = asPreset(field.value);
    chosen.value = known?.name ?? "";
    for (const name of ["n", "weekday", "day", "time"]) {
      part(name).hidden = !parts[chosen.value]?.includes(name);
      if (known && parts[known.name].includes(name)) part(name).value = String(known[name]);
    }
    if (!state) return;
    for (const unit of order) {
      const c = state[unit];
      const other = panel(unit).querySelector("[data-other]");
      other.hidden = c.kind !== "other";
      other.querySelector("code").textContent = c.text ?? "";
      for (const radio of panel(unit).querySelectorAll(`input[type="radio"]`)) radio.checked = radio.value === c.kind;
      const line = panel(unit).querySelector(`[data-kind="${c.kind}"]`);
      line?.querySelectorAll("[data-n]").forEach((e, i) => { e.value = String(c.n?.[i] ?? ""); });
      // What was picked before another choice was made is not picked any more.
      panel(unit).querySelectorAll(`[type="checkbox"]`).forEach((e) => { e.checked = !!c.list?.includes(Number(e.value)); });
      box.querySelector(`[data-shown="${unit}"]`).textContent = token(unit, c);
    }
  }

  /** put writes the field as if somebody had typed. */
  function put(text) {
    const zone = /^\s*CRON_TZ=\S+\s+/i.exec(field.value)?.[0].trimStart() ?? "";
    field.value = zone + text;
    field.dispatchEvent(new Event("input", { bubbles: true }));
  }

  // Numbers that nobody has chosen yet begin with something sensible.
  for (const e of box.querySelectorAll("input[data-n]")) {
    if (e.closest("[data-unit]").dataset.unit === "year") e.value = box.dataset.year;
    else e.value = e.dataset.n === "1" && e.closest("[data-kind]").dataset.kind === "range" ? e.max : e.min;
  }
  box.addEventListener("change", (e) => {
    e.stopPropagation(); // nothing of it is a field of the form
    const at = /** @type {HTMLInputElement} */ (e.target);
    if (at === chosen || at.dataset.part) {
      if (!chosen.value) return show();
      if (at === chosen && chosen.value === "hours" && Number(part("n").value) > 23) part("n").value = "2";
      return put(preset(chosen.value, { n: part("n").value, weekday: part("weekday").value, day: part("day").value, time: part("time").value }));
    }
    const unit = at.closest("[data-unit]").dataset.unit;
    if (at.type !== "radio") at.closest("[data-kind]").querySelector(`input[type="radio"]`).checked = true;
    // Of a list nothing is chosen yet: that is no wish.
    const c = collect()[unit];
    if (c.kind === "pick" && c.list.length === 0) return;
    put(write(collect(), new Date(), unit));
  });
  box.addEventListener("input", (e) => e.stopPropagation());
  field.addEventListener("input", show);

  const tabs = [...box.querySelectorAll(`[role="tab"]`)];
  const open = (tab) => tabs.forEach((t) => {
    t.setAttribute("aria-selected", String(t === tab));
    t.tabIndex = t === tab ? 0 : -1;
    document.getElementById(t.getAttribute("aria-controls")).hidden = t !== tab;
  });
  tabs.forEach((tab, i) => {
    tab.addEventListener("click", () => open(tab));
    tab.addEventListener("keydown", (e) => {
      const to = { ArrowRight: i + 1, ArrowLeft: i - 1, Home: 0, End: tabs.length - 1 }[e.key];
      if (to === undefined) return;
      e.preventDefault();
      const next = tabs[(to + tabs.length) % tabs.length];
      open(next);
      next.focus();
    });
  });
  show();
  box.hidden = false;

  // The offer beside a refused expression comes with each answer of the center.
  const offers = () => document.querySelectorAll("[data-use-cron]").forEach((b) => { b.hidden = false; });
  offers();
  document.addEventListener("htmx:afterSwap", offers);
  document.addEventListener("click", (e) => {
    const offer = e.target.closest?.("[data-use-cron]");
    if (!offer) return;
    field.value = "";
    put(offer.dataset.useCron);
    field.focus();
  });
}

if (typeof document !== "undefined") document.querySelectorAll("[data-cron]").forEach(attach);
