import type { Reporter, TestCase, TestError, TestModule, TestProject, Vitest } from 'vitest/node';

/**
 * Printed by uWebSockets.js for each WebSocket that opens after an asynchronous decision
 * (docs/websockets.md#a-warning-on-stderr).
 */
const corkWarning = /^Warning: uWS\.HttpResponse writes must be made from within a corked callback.*\n?/gm;

/**
 * Prints each failure as it happens (Vitest's own reporters print what failed when every file has ended), and at the end the
 * seed of the property tests with the command that repeats them.
 */
export class FailuresAsTheyHappen implements Reporter {
  /** Drops the warning from the output of the tests. The test of disconnecting clients fails if it has another cause. */
  onInit({ logger: { errorStream } }: Vitest): void {
    const write = errorStream.write.bind(errorStream);
    // Latin-1 keeps the bytes of a character that two chunks share.
    const withoutWarning = (chunk: Uint8Array | string) =>
      Buffer.from(Buffer.from(chunk).toString('latin1').replaceAll(corkWarning, ''), 'latin1');
    errorStream.write = (chunk: Uint8Array | string, ...rest: never[]) =>
      write(withoutWarning(chunk), ...rest);
  }

  onTestCaseResult(test: TestCase): void {
    const { state, errors } = test.result();
    if (state === 'failed') print(test.project, `${test.module.relativeModuleId} > ${test.fullName}`, errors);
  }

  /** A file whose imports or hooks failed. */
  onTestModuleEnd(file: TestModule): void {
    const errors = [file, ...file.children.allSuites()].flatMap((each) => each.errors());
    if (errors.length > 0) print(file.project, file.relativeModuleId, errors);
  }

  onTestRunEnd(): void {
    const command = process.argv
      .slice(2)
      .join(' ')
      .replace(/--root \S+ /, '');
    process.stdout.write(
      `\nProperty tests: TEST_SEED=${process.env['TEST_SEED']} npx vitest ${command} repeats the inputs of this run.\n`,
    );
  }
}

function print(project: TestProject, name: string, errors: readonly TestError[]): void {
  const lines = errors.flatMap(({ message, stack = message, diff = '' }) => [
    ...stack.split('\n').filter((line) => !/node_modules|<anonymous>/.test(line)),
    ...diff.split('\n').filter((line) => line !== ''),
  ]);
  process.stderr.write(`\nFAILED  |${project.name}| ${name}\n${lines.join('\n')}\n`);
}
