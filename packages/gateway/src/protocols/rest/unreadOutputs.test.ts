import { ReadableStream } from 'node:stream/web';
import { expect, it } from 'vitest';
import type { MediaWriter } from '../../procedures/meta.ts';
import { t, testGateway } from '../../testing/testGateway.ts';

const csv: MediaWriter = ({ rows }: { readonly rows: ReadableStream<string> }) =>
  (async function* () {
    for await (const row of rows) yield new TextEncoder().encode(`${row}\n`);
  })();
const broken: MediaWriter = () => {
  throw new Error('broken');
};

it.each<readonly [string, string, MediaWriter, object]>([
  ['is read by the body that a writer creates', 'text/csv', csv, { status: 200, text: 'a\nb\n' }],
  ['is ended if it is sent as JSON', 'application/json', csv, { status: 200, text: '{"rows":{}}' }],
  ['is ended if a writer does not read it', 'text/csv', () => 'none', { status: 200, text: 'none' }],
  ['is ended if a writer fails', 'text/csv', broken, { status: 500 }],
])('the iterable of an output %s', async (_, accept, write, expected) => {
  const rows = ReadableStream.from(['a', 'b']);
  const produces = { 'application/json': true, 'text/csv': write } as const;
  const openapi = { method: 'GET', path: '/rows', produces } as const;
  const router = t.router({ rows: t.procedure.meta({ openapi }).query(() => ({ rows })) });
  const gateway = await testGateway(router, { onResponse: () => {} });
  const response = await gateway.fetch(new Request('http://localhost/v1/rows', { headers: { accept } }));
  expect({ status: response.status, text: await response.text() }).toMatchObject(expected);
  expect(await rows.getReader().read()).toMatchObject({ done: true });
});
