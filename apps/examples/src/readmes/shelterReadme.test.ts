import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '@petstore/testing/freePort';
import { startProcess } from '@petstore/testing/startProcess';
import { expect, onTestFinished, test, vi } from 'vitest';
import { curlLines, newSnippets, readReadme } from './readme.ts';

// Runs a compiler and processes, on a machine that may be busy.
vi.setConfig({ testTimeout: 180_000 });

const noCurl = spawnSync('curl', ['--version']).error !== undefined;
if (noCurl) process.stderr.write('SKIPPED: the README of the shelter: this machine has no curl.\n');

const readme = await readReadme('apps/examples/shelter/README.md');
const shelter = fileURLToPath(new URL('../../shelter/', import.meta.url));
/** Replaces times and request ids, which differ in each run. */
const comparable = (text: string) =>
  text
    .replaceAll(/\d{4}-[\d-]+T[\d:.]+Z/g, '<time>')
    .replaceAll(/(?<="requestId":")[^"]+/g, '<id>')
    .trimEnd();

test.skipIf(noCurl)(
  'the commands and the client in the README of the shelter print what it says',
  async () => {
    const [port, issuerPort] = [String(await freePort()), String(await freePort())];
    const onPorts = (text: string) => text.replaceAll('3002', port).replaceAll('3003', issuerPort);
    const { write, compile, run, shell } = await newSnippets();
    const [program = ''] = readme.blocks('ts');
    await write({
      'client.ts': onPorts(program),
      'router.ts': `export type { ShelterRouter } from '../../shelter/router.ts';`,
      'rex.jpg': 'the bytes of a photo',
    });
    await compile();
    await startShelter({ PORT: port, ISSUER_PORT: issuerPort, DATA_DIR: await newFolder() });

    const commands = readme.blocks('sh');
    const tokenCommand = commands.find((block) => block.startsWith('TOKEN=')) ?? '';
    const env = { TOKEN: (await shell(`${onPorts(tokenCommand)}\nprintf %s "$TOKEN"`)).trim() };
    const lines = curlLines(readme.text);
    expect(lines).toHaveLength(6);
    for (const [line, printed] of lines) {
      const output = await shell(onPorts(line), env);
      expect([line, comparable(output)]).toEqual([line, comparable(printed)]);
    }

    const stream = commands.find((block) => block.startsWith('curl -s -N')) ?? '';
    const [, events = ''] = /^```text\n(.*?)^```$/ms.exec(readme.text) ?? [];
    const streamed = await shell(`${onPorts(stream).trim()} --max-time 1 || true`, env);
    expect(comparable(streamed)).toBe(comparable(events));

    const comments = [...program.matchAll(/^ *\/\/ (.*)$/gm)].map(([, comment = '']) => comment);
    expect((await run('client.ts', env)).trimEnd().split('\n')).toEqual(comments);
  },
);

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'shelter-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Starts `dev.ts` and waits until it listens. */
async function startShelter(env: Readonly<Record<string, string>>): Promise<void> {
  const child = startProcess(process.execPath, ['--conditions=trpc-gateway-source', `${shelter}dev.ts`], {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => resolve());
  });
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  await vi.waitUntil(
    async () => (await fetch(`http://127.0.0.1:${env['PORT']}/readyz`).catch(() => undefined))?.ok,
    {
      timeout: 60_000,
    },
  );
}
