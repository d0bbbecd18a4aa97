import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startProcess } from '@petstore/testing/startProcess';
import { onTestFinished } from 'vitest';
import { newSnippets } from '../readmes/readme.ts';

/** A command and its output. */
export interface Step {
  readonly typed: string;
  readonly printed: string;
}

const main = fileURLToPath(new URL('../../../server/src/main.ts', import.meta.url));
const tsc = fileURLToPath(new URL('../../../../node_modules/.bin/tsc', import.meta.url));

const call = `import type { AppRouter } from '@petstore/types';
import { createTRPCClient, httpLink } from '@trpc/client';

const headers = { authorization: \`Bearer \${process.env.KEY}\` };
const url = 'http://127.0.0.1:3000/trpc';
const pets = createTRPCClient<AppRouter>({ links: [httpLink({ url, headers })] });
console.log(await pets.listPets.query({ status: 'available' }));
`;

/**
 * Runs the recorded session: a first start, HTTP calls, a typed call, and one that does not compile. npm's output of the
 * build before the first start is omitted.
 */
export async function session(): Promise<readonly Step[]> {
  const { printed, origin, key } = await firstStart();
  const snippets = await newSnippets();
  const at = (text: string) => text.replaceAll('http://127.0.0.1:3000', origin);
  const shell = (typed: string) => snippets.shell(at(typed), { KEY: key });
  await snippets.write({ 'call.ts': at(call) });
  await snippets.compile();
  const curl = [
    `curl http://127.0.0.1:3000/v1/pets -H "Authorization: Bearer $KEY" \\\n    -H 'Content-Type: application/json' -d '{"name":"Rex","categoryId":1,"status":"available"}'`,
    `curl 'http://127.0.0.1:3000/v1/pets?limit=1000' -H "Authorization: Bearer $KEY"`,
  ];
  const wrong = "sed 's/available/lost/' call.ts >wrong.ts && npx tsc";
  const steps: Step[] = [{ typed: 'npm start >petstore.log &', printed }];
  for (const typed of curl) steps.push({ typed, printed: await shell(typed) });
  steps.push(
    { typed: 'cat call.ts', printed: call },
    { typed: 'node call.ts', printed: await snippets.run('call.ts', { KEY: key }) },
    // `; true` because tsc exits with an error code.
    { typed: wrong, printed: await shell(`${wrong.replace('npx tsc', `'${tsc}' --pretty false`)}; true`) },
  );
  // Replaces the key and the port, which differ in each run.
  const lasting = (text: string) =>
    text.replaceAll(key, `psk_${'•'.repeat(43)}`).replaceAll(origin, 'http://127.0.0.1:3000');
  return steps.map((step) => ({ typed: step.typed, printed: lasting(step.printed) }));
}

async function firstStart() {
  const folder = await mkdtemp(join(tmpdir(), 'session-'));
  const child = startProcess(process.execPath, ['--conditions=trpc-gateway-source', main], {
    env: { PATH: process.env['PATH'], PORT: '0', DATA_DIR: join(folder, 'data') },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => resolve());
  });
  onTestFinished(async () => {
    child.kill('SIGTERM');
    await ended;
    await rm(folder, { recursive: true, force: true });
  });
  child.stdout?.resume();
  let printed = '';
  for await (const text of child.stderr?.setEncoding('utf8') ?? []) {
    printed += text as string;
    const key = /psk_[\w-]+/.exec(printed)?.[0];
    const origin = /http:\/\/[^/]+/.exec(printed)?.[0];
    if (key !== undefined && origin !== undefined && printed.endsWith('/docs\n\n'))
      return { printed, origin, key };
  }
  throw new Error(`The pet store did not start: ${printed}`);
}
