type Reference = readonly [key: string | null, type: 0 | 1, id: number];

const settledStatus = { 0: [0, 1], 1: [0, 2] } as const;

/**
 * A response of tRPC's JSON lines in an order that does not depend on which call ended first: each line behind the one
 * that refers to it, with ids in that order. Nothing else of a line's text changes.
 * @throws {Error} where the response is not complete, or has a line that no earlier line refers to
 */
export function sortedLines(text: string): readonly string[] {
  // Pings are blanks between lines.
  const [head = '', ...lines] = text.split('\n').map((line) => line.trimStart());
  if (lines.pop() !== '') throw new Error(`The last line has no end: ${text}`);
  const groups = new Map<number, { readonly type: 0 | 1; readonly lines: string[]; isSettled: boolean }>();
  const refer = (references: readonly Reference[]) => {
    for (const [, type, id] of references) {
      if (groups.has(id)) throw new Error(`The id ${id} is used twice: ${text}`);
      groups.set(id, { type, lines: [], isSettled: false });
    }
  };
  refer(referencesOf(head));
  for (const line of lines) {
    const [id, status] = bodyOf(line) as [number, number];
    const group = groups.get(id);
    if (!group || group.isSettled) throw new Error(`No earlier line refers to this one: ${line}`);
    group.lines.push(line);
    group.isSettled = (settledStatus[group.type] as readonly number[]).includes(status);
    refer(referencesOf(line));
  }
  if ([...groups.values()].some(({ isSettled }) => !isSettled)) throw new Error(`A line is missing: ${text}`);

  const sorted: string[] = [];
  let count = 0;
  const write = (line: string, ownId: number | undefined) => {
    const references = referencesOf(line);
    const first = count;
    count += references.length;
    sorted.push(renumbered(line, ownId, references, first));
    for (const [index, [, , id]] of references.entries()) {
      for (const next of groups.get(id)?.lines ?? []) write(next, first + index);
    }
  };
  write(head, undefined);
  return sorted;
}

/** A line's JSON, out of the transformer's envelope. */
function bodyOf(line: string): unknown {
  const parsed = JSON.parse(line) as { readonly json?: unknown };
  return parsed.json ?? parsed;
}

function referencesOf(line: string): readonly Reference[] {
  const body = bodyOf(line);
  if (!Array.isArray(body)) {
    return Object.values(body as object).flatMap(([, ...rest]: [unknown, ...Reference[]]) => rest);
  }
  const value: unknown = body[2];
  // An error has no references.
  return Array.isArray(value) && Array.isArray(value[0]) ? (value.slice(1) as Reference[]) : [];
}

function renumbered(
  line: string,
  ownId: number | undefined,
  references: readonly Reference[],
  first: number,
): string {
  let text = ownId === undefined ? line : line.replace(/\d+/, String(ownId));
  let from = text.length;
  // From the end: the text of the value, which comes before, may look like anything.
  for (const [index, [key, type]] of [...references.entries()].toReversed()) {
    const old = JSON.stringify(references[index]);
    const at = text.lastIndexOf(old, from);
    text = `${text.slice(0, at)}${JSON.stringify([key, type, first + index])}${text.slice(at + old.length)}`;
    from = at - 1;
  }
  return text;
}
