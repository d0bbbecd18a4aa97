import { formatProblems } from 'trpc-gateway/command';
import { TypegenError } from './typegenError.ts';

/** Collects errors to report them at once. @param unknown procedures whose types are `unknown` already */
export class ProcedureErrors {
  readonly #messages = new Map<string, Set<string>>();
  readonly #unknown: ReadonlySet<string>;

  constructor(unknown: ReadonlySet<string>) {
    this.#unknown = unknown;
  }

  /** Adds an error of a procedure. Another error than a `TypegenError` is thrown. */
  add(path: string, error: unknown): undefined {
    if (!(error instanceof TypegenError)) throw error;
    const messages = this.#messages.get(path) ?? new Set();
    this.#messages.set(path, messages.add(error.message));
  }

  /** @throws {TypegenError} with a line for each error, and the options that print the types as `unknown` */
  throwIfAny(): void {
    if (this.#messages.size === 0) return;
    const problems = Array.from(this.#messages, ([procedure, messages]) =>
      Array.from(messages, (line) => ({ procedure, line })),
    ).flat();
    const lines = [...formatProblems(problems)];
    const paths = [...this.#messages.keys()].filter((path) => !this.#unknown.has(path));
    if (paths.length > 1) {
      const options = paths.map((path) => `--unknown ${path}`).join(' ');
      lines.push(
        `To print these types as unknown instead, add: ${options}`,
        'To print every output without an output schema as unknown, add: --unknown-outputs',
      );
    }
    throw new TypegenError(lines.join('\n'));
  }
}
