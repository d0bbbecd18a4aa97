import { fileURLToPath } from 'node:url';
import { commandMissing } from '@petstore/testing/commandMissing';
import { freePort } from '@petstore/testing/freePort';
import { temporaryFolder } from '@petstore/testing/temporaryFolder';
import { listening, startService } from '@petstore/testing/serviceProcess';
import { expect, onTestFinished, test } from 'vitest';
import { curlLines, newSnippets, readReadme } from './readme.ts';

const noCurl = commandMissing('curl');

const readme = await readReadme('apps/examples/shelter/README.md');
const shelter = fileURLToPath(new URL('../../shelter/', import.meta.url));
/** Replaces times, request ids and ids of events, which differ in each run, and removes comments of streams. */
const comparable = (text: string) =>
  text
    .replaceAll(/^:\n\n/gm, '')
    .replaceAll(/[0-9a-f]{12}-\d+/g, '<event>')
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
    await startShelter({ PORT: port, ISSUER_PORT: issuerPort, DATA_DIR: await temporaryFolder() });

    const commands = readme.blocks('sh');
    const tokenCommand = commands.find((block) => block.startsWith('TOKEN=')) ?? '';
    const env = { TOKEN: (await shell(`${onPorts(tokenCommand)}\nprintf %s "$TOKEN"`)).trim() };
    const lines = curlLines(readme.text);
    expect(lines).toHaveLength(6);
    for (const [line, printed] of lines) {
      const output = await shell(onPorts(line), env);
      expect([line, comparable(output)]).toEqual([line, comparable(printed)]);
    }

    const streams = commands.filter((block) => block.startsWith('curl -s -N'));
    const events = [...readme.text.matchAll(/^```text\n(.*?)^```$/gms)].map(([, text = '']) => text);
    expect([streams.length, events.length]).toEqual([2, 2]);
    for (const [index, stream] of streams.entries()) {
      const streamed = await shell(`${onPorts(stream).trim()} --max-time 1 || true`, env);
      expect(comparable(streamed)).toBe(comparable(events[index] ?? ''));
    }

    const comments = [...program.matchAll(/^ *\/\/ (.*)$/gm)].map(([, comment = '']) => comment);
    expect((await run('client.ts', env)).trimEnd().split('\n')).toEqual(comments);
  },
);

/** Starts `dev.ts` and waits until it listens. */
async function startShelter(env: Readonly<Record<string, string>>): Promise<void> {
  const service = startService(process.execPath, [`${shelter}dev.ts`], {
    env: { PATH: process.env['PATH'], ...env },
  });
  onTestFinished(async () => {
    service.child.kill('SIGKILL');
    await service.exited;
  });
  await listening(service);
}
