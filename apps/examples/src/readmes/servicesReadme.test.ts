import { fileURLToPath } from 'node:url';
import { startService } from '@petstore/testing/serviceProcess';
import { temporaryFolder } from '@petstore/testing/temporaryFolder';
import { expect, onTestFinished, test } from 'vitest';
import { curlLines, newSnippets, readReadme } from './readme.ts';

/** Starts a program of the examples. Resolves with the match in what it prints, when it is there. */
async function start(program: string, env: Readonly<Record<string, string>>, printed: RegExp) {
  const path = fileURLToPath(new URL(`../../${program}`, import.meta.url));
  const service = startService(process.execPath, [path], { env: { PATH: process.env['PATH'], ...env } });
  onTestFinished(async () => {
    service.child.kill('SIGKILL');
    await service.exited;
  });
  await expect.poll(service.stdout).toMatch(printed);
  return printed.exec(service.stdout())?.[1] ?? '';
}

test('the commands in the README of the login print what it says', async () => {
  const lines = curlLines((await readReadme('apps/examples/src/oneLogin/README.md')).text);
  expect(lines).toHaveLength(2);
  const { expectPrinted, onPorts } = await newSnippets('3004');
  const key = await start('src/oneLogin/main.ts', { PORT: onPorts('3004') }, /^KEY=(.+)$/m);
  const withoutAuthor = (text: string) => text.replaceAll(/(?<="author":")[^"]+/g, '…');
  await expectPrinted(lines, { env: { KEY: key }, comparable: withoutAuthor });
});

/** Replaces times, request ids and ids of events, which differ in each run, and removes comments of streams. */
const comparable = (text: string) =>
  text
    .replaceAll(/^:\n\n/gm, '')
    .replaceAll(/[0-9a-f]{12}-\d+/g, '<event>')
    .replaceAll(/\d{4}-[\d-]+T[\d:.]+Z/g, '<time>')
    .replaceAll(/(?<="requestId":"|"client":"curl\/)[^"]+/g, '<id>')
    .trimEnd();

test('the commands and the client in the README of the shelter print what it says', async () => {
  const { blocks, text } = await readReadme('apps/examples/shelter/README.md');
  const { compile, expectPrinted, onPorts, run, shell, write } = await newSnippets('3002', '3003');
  const [program = ''] = blocks('ts');
  await write({
    'client.ts': program,
    'router.ts': `export type { ShelterRouter } from '../../shelter/router.ts';`,
    'rex.jpg': 'the bytes of a photo',
  });
  await compile();
  const ports = { PORT: onPorts('3002'), ISSUER_PORT: onPorts('3003') };
  await start('shelter/dev.ts', { ...ports, DATA_DIR: await temporaryFolder() }, /"listening"/);

  const tokenCommand = blocks('sh').find((block) => block.startsWith('TOKEN='));
  const env = { TOKEN: (await shell(`${tokenCommand}\nprintf %s "$TOKEN"`)).trim() };
  const lines = curlLines(text);
  expect(lines).toHaveLength(6);
  await expectPrinted(lines, { env, comparable });

  const streams = blocks('sh').filter((block) => block.startsWith('curl -s -N'));
  expect([streams.length, blocks('text').length]).toEqual([2, 2]);
  for (const [index, stream] of streams.entries()) {
    const streamed = await shell(`${stream.trim()} --max-time 1 || true`, env);
    expect(comparable(streamed)).toBe(comparable(blocks('text')[index] ?? ''));
  }

  const comments = [...program.matchAll(/^ *\/\/ (.*)$/gm)].map(([, comment = '']) => comment);
  expect((await run('client.ts', env)).trimEnd().split('\n')).toEqual(comments);
});
