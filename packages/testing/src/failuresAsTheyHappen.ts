import type { TestError } from 'vitest';
import type { Reporter, TestCase, TestModule, TestProject, Vitest } from 'vitest/node';

/** Printed for each WebSocket that opens asynchronously (docs/websockets.md#a-warning-on-stderr). */
const corkWarning = /^Warning: uWS\.HttpResponse writes must be made from within a corked callback.*\n?/gm;

/**
 * Prints each failure as it happens (Vitest's own reporters print what failed when every file has ended). Ends, also after
 * Ctrl-C, with the names of the tests that failed, the number of skipped ones, and the seed of the property tests with the command that repeats them.
 */
export default class FailuresAsTheyHappen implements Reporter {
  readonly #failed: string[] = [];
  /** The number of skipped tests, by project and reason. */
  readonly #skipped = new Map<string, number>();
  /** The tests that failed once, then passed. */
  readonly #flaky: string[] = [];

  /** Drops the warning from the output of the tests. The test of disconnecting clients fails if it has another cause. */
  onInit({ logger: { errorStream } }: Vitest): void {
    const write = errorStream.write.bind(errorStream);
    // Latin-1 keeps the bytes of a character that two chunks share.
    const withoutWarning = (chunk: Uint8Array | string) =>
      Buffer.from(Buffer.from(chunk).toString('latin1').replaceAll(corkWarning, ''), 'latin1');
    // Vitest only ends its processes: the run has no end that is reported.
    process.once('SIGINT', () => {
      process.stderr.write('\nInterrupted. What has failed until now:\n');
      this.#printOutcome();
    });
    errorStream.write = (chunk: Uint8Array | string, ...rest: never[]) =>
      write(withoutWarning(chunk), ...rest);
  }

  onTestCaseResult(test: TestCase): void {
    const { state, errors } = test.result();
    const { module, project } = test;
    const name = `${module.relativeModuleId} > ${test.fullName}`;
    if (state === 'failed') this.#fail(project, name, errors);
    if (state === 'skipped') {
      const { note = 'the log above says why' } = test.result() as { readonly note?: string };
      const line = `|${project.name}| ${note}`;
      this.#skipped.set(line, (this.#skipped.get(line) ?? 0) + 1);
    }
    if (test.diagnostic()?.flaky) this.#flaky.push(`Failed once, then passed: |${project.name}| ${name}`);
  }

  /** A file whose imports or hooks failed. */
  onTestModuleEnd(file: TestModule): void {
    const errors = [file, ...file.children.allSuites()].flatMap((each) => each.errors());
    if (errors.length > 0) this.#fail(file.project, file.relativeModuleId, errors);
  }

  #fail(project: TestProject, name: string, errors: readonly TestError[]): void {
    const lines = errors.flatMap(({ message, stack = message, diff = '' }) => [
      ...stack.split('\n').filter((line) => !/node_modules|<anonymous>/.test(line)),
      ...diff.split('\n').filter((line) => line !== ''),
    ]);
    process.stderr.write(`\nFAILED  |${project.name}| ${name}\n${lines.join('\n')}\n`);
    this.#failed.push(`Failed: |${project.name}| ${name}`);
  }

  onTestRunEnd(files: readonly TestModule[]): void {
    if (files.length === 0 && process.env['PETSTORE_TESTS'] === undefined) {
      process.stderr.write(
        '\nNo test ran. Tests of faults, load and browsers, and most suites of other adapters than uWebSockets.js, run with PETSTORE_TESTS=all: write it before the command.\n',
      );
    }
    this.#printOutcome();
    const command = process.argv
      .slice(2)
      .join(' ')
      .replace(/--root \S+ /, '');
    process.stdout.write(
      `\nProperty tests: TEST_SEED=${process.env['TEST_SEED']} npx vitest ${command} repeats the inputs of this run.\n`,
    );
  }

  #printOutcome(): void {
    const skipped = [...this.#skipped].map(
      ([line, count]) => `Skipped ${count} ${count === 1 ? 'test' : 'tests'}: ${line}`,
    );
    const lines = [...this.#failed, ...this.#flaky, ...skipped];
    if (lines.length > 0) process.stderr.write(`\n${lines.join('\n')}\n`);
  }
}
