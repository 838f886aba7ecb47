// The data of the waveform: each run's columns as arrays of numbers (NaN: not known; a text is a number that no variable takes),
// what a value is called, and where two runs, or a run and what was expected of it, differ.
const waveformData = (data) => {
  const generated = new Set(data.generated);
  const column = (coded, trace, variable) => {
    const values = new Float64Array(trace.length + 1), texts = new Map();
    const word = (value) => {
      if (value === null) return NaN;
      if (!Array.isArray(value)) return value;
      const key = -1e15 - value[0];
      texts.set(key, trace.words[value[0]]);
      return key;
    };
    if (coded.all) coded.all.forEach((value, step) => { values[step] = word(value); });
    else {
      let step = 0;
      coded.values.forEach((value, run) => { values.fill(word(value), step, step += coded.runs[run]); });
    }
    const seen = new Set(), changes = [];
    let low = Infinity, high = -Infinity;
    for (let step = 0; step < values.length; step++) {
      const value = values[step];
      if (step && !Object.is(value, values[step - 1])) changes.push(step);
      if (Number.isNaN(value)) continue;
      if (seen.size < 3) seen.add(value);
      if (!texts.has(value)) { low = Math.min(low, value); high = Math.max(high, value); }
    }
    const named = texts.size > 0 || Object.keys(variable.labels).length > 0;
    const kind = named ? "mode" : low >= 0 && high <= 1 && [...seen].every(Number.isInteger) ? "flag" : "number";
    const expected = new Map();
    for (const [first, end, text] of coded.differs ?? []) for (let step = first; step < end; step++) expected.set(step, text);
    return { values, texts, kind, low, high, changes, expected };
  };
  const byStep = (pairs) => {
    const found = new Map();
    for (const [step, goal] of pairs) found.set(step, [...(found.get(step) ?? []), goal]);
    return found;
  };
  const decode = (trace) => {
    const columns = trace.columns.map((coded, at) => column(coded, trace, data.variables[at]));
    const [goals, failed] = [byStep(trace.goals), byStep(trace.failed)];
    const marks = [...new Set([...goals.keys(), ...failed.keys()])].sort((a, b) => a - b);
    const wrong = [...new Set(columns.flatMap((each) => [...each.expected.keys()]))].sort((a, b) => a - b);
    const names = (step) => [...(failed.get(step) ?? []).map((name) => `✗ ${name}`), ...(goals.get(step) ?? [])];
    // Which flags are named first where there is no room for all: of what failed, then of goals that somebody wrote.
    const rank = (step) => (failed.has(step) ? 0 : goals.get(step).some((name) => !generated.has(name)) ? 1 : 2);
    return { ...trace, columns, failed, marks, wrong, names, rank };
  };
  const decoded = new Map();
  const trace = (number) => {
    if (!decoded.has(number)) decoded.set(number, decode(data.traces[number]));
    return decoded.get(number);
  };
  const shown = (own, at, step) => {
    const { values, texts } = own.columns[at], value = values[step];
    if (step > own.length || value === undefined || Number.isNaN(value)) return "-";
    const text = texts.get(value) ?? String(value);
    return data.variables[at].labels[text] ?? text;
  };
  const known = (own, at, step) => step <= own.length && !Number.isNaN(own.columns[at].values[step]);
  // Which of two runs has what was expected of it, by a judge who knows of tolerances: the run itself, or the one beside it, or neither.
  const judged = (own, beside) => {
    if (!beside || (own.kind === "judged" && beside.name === own.beside)) return own;
    return beside.kind === "judged" && beside.beside === own.name ? beside : null;
  };
  const mayDiffer = (own, beside, at) => Boolean(judged(own, beside)?.columns[at].expected.size ?? beside);
  const same = (own, beside, at, step) => {
    const [a, b] = [own.columns[at], beside.columns[at]];
    return !a.texts.size && !b.texts.size ? a.values[step] === b.values[step] : shown(own, at, step) === shown(beside, at, step);
  };
  // How the value of `own` differs at a step, in words; '' where it does not.
  const difference = (own, beside, at, step) => {
    const by = judged(own, beside), expected = by?.columns[at].expected.get(step);
    if (by === own) return expected === undefined ? "" : `expected ${expected}`;
    if (!beside || !known(own, at, step) || !known(beside, at, step)) return "";
    return (by ? expected === undefined : same(own, beside, at, step)) ? "" : `beside: ${shown(beside, at, step)}`;
  };
  const counted = (steps) => `${steps} step${steps === 1 ? "" : "s"}`;
  const time = (steps) => (data.period ? ` (${Number((steps * data.period).toPrecision(9))} s)` : "");
  return { variables: data.variables, traces: data.traces, trace, shown, difference, mayDiffer, counted, time };
};
