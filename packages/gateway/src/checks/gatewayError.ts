import './nodeVersion.ts';

/** Thrown at start for an invalid router or options, by `createGateway` and others. Each problem is a line, with the fix. */
export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  // Not an own property, which Node would print below the message.
  readonly #problems: readonly Problem[];

  constructor(message: string, options: ErrorOptions & { readonly problems?: readonly Problem[] } = {}) {
    super(message, options);
    this.#problems = options.problems ?? [];
  }

  /** The procedures that cannot be served, by protocol; none if the problem is another. */
  get problems(): readonly Problem[] {
    return this.#problems;
  }
}

/** Rejects a part of the router; its subject is added where it is caught. @throws {GatewayError} */
export function reject(reason: string): never {
  throw new GatewayError(reason);
}

/** Runs all, and returns their results. @throws {GatewayError} with all reasons, one per line */
export function collect<const Reads extends readonly (() => unknown)[]>(reads: Reads) {
  const reasons: string[] = [];
  const results = reads.map((read) => {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      reasons.push(error.message);
      return undefined;
    }
  });
  if (reasons.length > 0) reject([...new Set(reasons)].join('\n'));
  // `map` does not keep the types of a tuple.
  return results as { -readonly [Index in keyof Reads]: ReturnType<Reads[Index]> };
}

/** Adds the subject of the sentence to each line of a `GatewayError` of `read`. @throws {GatewayError} */
export function withSubject<Result>(subject: string, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    throw new GatewayError(error.message.replaceAll(/^/gm, `${subject} `));
  }
}

/** A line about a procedure, which names it as `"books.find"`. */
export interface Problem {
  readonly procedure: string;
  /** What cannot be read or served: its metadata, its operation or its tool. */
  readonly part: 'metadata' | 'rest' | 'mcp';
  readonly line: string;
}

/** Returns a line for each different problem, with all procedures that have it. */
export function formatProblems(problems: readonly Omit<Problem, 'part'>[]): readonly string[] {
  const same = Map.groupBy(problems, ({ procedure, line }) => line.replace(`"${procedure}"`, '""'));
  return Array.from(same.values(), ([{ line } = { line: '' }, ...others]) => {
    if (others.length === 0) return line;
    const names = others.map(({ procedure }) => `"${procedure}"`).join(', ');
    return `${line} The same is true of ${others.length} more: ${names}.`;
  });
}
