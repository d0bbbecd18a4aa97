import { EventSourceParserStream } from 'eventsource-parser/stream';
import { expect, onTestFinished, test } from 'vitest';
import { newSnippets, readReadme } from './readme.ts';

/** Connects to a stream of server-sent events, and reads the first. */
async function readEvent(url: string, headers: Readonly<Record<string, string>> = {}) {
  const controller = new AbortController();
  onTestFinished(() => controller.abort());
  const { body } = await fetch(url, { headers, signal: controller.signal });
  const events = body?.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
  return { first: events?.getReader().read() };
}

const event = (animal: string, id: string) => ({
  value: { data: `{"animal":"${animal}","status":"adopted"}`, id },
});

test('the program in docs/events.md sends the events of one process to clients of another, which resume there, also filtered', async () => {
  const [server = '', filter = ''] = (await readReadme('docs/events.md')).blocks('ts');
  const program = server
    .replace('{ initTRPC }', '{ initTRPC, tracked }')
    .replace(/^ {2}onChange:/m, `${filter}$&`);
  const { compile, onPorts, start, write } = await newSnippets('3000', '3001');
  const onPort = (port: string) => program.replace("Number(process.env['PORT'])", port);
  await write({ 'one.ts': onPort('3000'), 'other.ts': onPort('3001') });
  await compile();
  await start('one.ts');
  await start('other.ts', '3001');
  const [one, other] = ['3000', '3001'].map((port) => onPorts(`http://127.0.0.1:${port}/v1/shelters/north`));
  const setStatus = async (animal: string, status = 'adopted') => {
    const body = JSON.stringify({ animal, status });
    const headers = { 'content-type': 'application/json' };
    const { ok } = await fetch(`${other}/animals`, { method: 'POST', headers, body });
    expect(ok).toBe(true);
  };
  const { first } = await readEvent(`${one}/changes`);
  await setStatus('Rex');
  const { value: { id = '' } = {} } = (await first) ?? {};
  expect(await first).toMatchObject(event('Rex', id));
  const [epoch, sequence] = id.split('-');
  const eventId = (count: number) => `${epoch}-${Number(sequence) + count - 1}`;
  await setStatus('Tom');
  const resumed = await readEvent(`${other}/changes`, { 'last-event-id': id });
  expect(await resumed.first).toMatchObject(event('Tom', eventId(2)));
  await setStatus('Ann', 'available');
  await setStatus('Ann');
  const filtered = await readEvent(`${one}/adoptions`, { 'last-event-id': eventId(2) });
  expect(await filtered.first).toMatchObject(event('Ann', eventId(4)));
});
