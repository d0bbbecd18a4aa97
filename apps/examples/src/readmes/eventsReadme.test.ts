import { freePort } from '@petstore/testing/freePort';
import { expect, onTestFinished, test } from 'vitest';
import { newSnippets, readReadme } from './readme.ts';

/** Reads server-sent events until the client has `count` of them. */
async function readEvents(url: string, count: number, headers: Readonly<Record<string, string>> = {}) {
  const controller = new AbortController();
  onTestFinished(() => controller.abort());
  const { body } = await fetch(url, { headers, signal: controller.signal });
  return {
    events: (async () => {
      let text = '';
      for await (const piece of body?.pipeThrough(new TextDecoderStream()) ?? []) {
        text += piece.replaceAll(/^:\n\n/gm, '');
        if (text.split('\n\n').length > count) break;
      }
      return text;
    })(),
  };
}

test('the program in docs/events.md sends the events of one process to clients of another, which resume there, also filtered', async () => {
  const [server = '', filter = ''] = (await readReadme('docs/events.md')).blocks('ts');
  const program = server
    .replace('{ initTRPC }', '{ initTRPC, tracked }')
    .replace(/^ {2}onChange:/m, `${filter}$&`);
  const [one, other] = [await freePort(), await freePort()];
  const { compile, start, write } = await newSnippets();
  const onPort = (port: number) => program.replace("Number(process.env['PORT'])", String(port));
  await write({ 'one.ts': onPort(one), 'other.ts': onPort(other) });
  await compile();
  await start('one.ts', one);
  await start('other.ts', other);
  const urlOf = (port: number) => `http://127.0.0.1:${port}/v1/shelters/north`;
  const setStatus = async (animal: string, status = 'adopted') => {
    const body = JSON.stringify({ animal, status });
    const headers = { 'content-type': 'application/json' };
    const { ok } = await fetch(`${urlOf(other)}/animals`, { method: 'POST', headers, body });
    expect(ok).toBe(true);
  };
  const { events } = await readEvents(`${urlOf(one)}/changes`, 1);
  await setStatus('Rex');
  const first = await events;
  const [, id = ''] =
    /^data: \{"animal":"Rex","status":"adopted"\}\nid: ([0-9a-f]{12}-1)\n\n$/.exec(first) ?? [];
  expect(first).toContain(`id: ${id}\n`);
  await setStatus('Tom');
  const resumed = await readEvents(`${urlOf(other)}/changes`, 1, { 'last-event-id': id });
  expect(await resumed.events).toBe(
    `data: {"animal":"Tom","status":"adopted"}\nid: ${id.replace(/1$/, '2')}\n\n`,
  );
  await setStatus('Ann', 'available');
  await setStatus('Ann');
  const filtered = await readEvents(`${urlOf(one)}/adoptions`, 1, { 'last-event-id': id.replace(/1$/, '2') });
  expect(await filtered.events).toBe(
    `data: {"animal":"Ann","status":"adopted"}\nid: ${id.replace(/1$/, '4')}\n\n`,
  );
});
