import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual, promisify } from 'node:util';
import { serve } from 'trpc-gateway/node';
import { createProtectedToolGateway, tokens } from './toolRouter.ts';

/**
 * `pythonClient.ts PYTHON`: the official Python client, which is installed in the virtual environment PYTHON, calls tools of a
 * running gateway in each revision that it knows. Prints a line for each, and exits with 1 if one differs.
 */

const [python] = process.argv.slice(2);
if (python === undefined) throw new Error('Name the virtual environment of the client.');

/** The modes of the client, and the revision of each. */
const versions: Readonly<Record<string, string>> = {
  '2026-07-28': '2026-07-28',
  auto: '2026-07-28',
  legacy: '2025-11-25',
};

/** What the client receives in each mode. */
const expected = {
  added: { id: 1, title: 'A' },
  declared: { code: 'OUT_OF_STOCK', status: 409, data: { left: 2 } },
  invalid: { code: 'BAD_REQUEST', status: 400 },
  last: ['{"step":3}'],
  steps: [1, 2, 3].map((step) => [step, `{"step":${step}}`]),
  rejected: 'The token does not have the required scope books:secret.',
  archives: [true, true],
  listed: ['books_add'],
};

/** The result of a call. That of an error is the JSON in its text. */
interface Result {
  readonly text: readonly string[];
  readonly structured: unknown;
  readonly isError: boolean;
}

interface Outcome {
  readonly mode: string;
  readonly version: string;
  readonly tools: readonly string[];
  readonly added: Result;
  readonly declared: Result;
  readonly invalid: Result;
  readonly last: Result;
  readonly steps: unknown;
  readonly archives: unknown;
  readonly rejected: unknown;
}

function errorOf({ isError, text: [text = ''] }: Result): unknown {
  if (!isError) return undefined;
  const { message: _message, ...error } = JSON.parse(text) as { readonly message: string };
  return error;
}

const received = ({ added, archives, declared, invalid, last, steps, rejected, tools }: Outcome) => ({
  added: added.structured,
  declared: errorOf(declared),
  invalid: errorOf(invalid),
  last: last.text,
  steps,
  archives,
  rejected,
  listed: tools.filter((name) => ['books_add', 'books_secret'].includes(name)),
});

const client = fileURLToPath(new URL('pythonClient.py', import.meta.url));
const { gateway } = await createProtectedToolGateway(tokens());
const server = await serve(gateway, { port: 0 });
try {
  const args = [client, `http://127.0.0.1:${server.port}/mcp`];
  const { stdout } = await promisify(execFile)(`${python}/bin/python`, args);
  const outcomes = stdout.split('\n').flatMap((line) => (line ? [JSON.parse(line) as Outcome] : []));
  if (outcomes.length !== Object.keys(versions).length) throw new Error(`The client has printed: ${stdout}`);
  for (const outcome of outcomes) {
    const { mode, version } = outcome;
    const actual = received(outcome);
    const isRight = version === versions[mode] && isDeepStrictEqual(actual, expected);
    if (!isRight) process.exitCode = 1;
    process.stdout.write(`${mode} | ${version} | ${isRight ? 'ok' : JSON.stringify(actual)}\n`);
  }
} finally {
  await server.close();
}
