import { expect, it } from 'vitest';
import { startEdge } from './startEdge.ts';

it.each([
  [{ 'content-type': 'application/json' }, 200],
  [{ 'content-type': 'Application/JSON; Charset="UTF-8"' }, 200],
  [{ 'content-type': 'application/json ; x=y' }, 200],
  [{ 'content-type': 'application/json; charset=latin1' }, 415],
  [{ 'content-type': 'application/jsonl' }, 415],
  [{ 'content-type': 'application/json', 'content-encoding': 'Identity' }, 200],
  [{ 'content-type': 'application/json', 'content-encoding': 'gzip' }, 415],
])('POST /v1/write with the headers %j is answered with %d', async (headers, status) => {
  const { post } = await startEdge();
  expect((await post('/v1/write', { value: 1 }, headers)).status).toBe(status);
});
