import { expect } from 'vitest';

/** What `calls.mts` prints for each protocol. */
export const expectedCalls = {
  trpc: [{ id: 1, title: 'Middlemarch' }, null],
  rest: [
    { id: expect.any(Number) as number, title: 'Emma' },
    { id: 2, title: 'Emma' },
    { code: 'BAD_REQUEST', message: 'id: must be an integer, such as 42 or -7.', status: 400 },
  ],
  mcp: { result: { content: [{ text: '{"id":1,"title":"Middlemarch"}' }] } },
  events: ['"Nothing happened."', '"Nothing happened."'],
  websocket: { id: 1, title: 'Middlemarch' },
  docs: [200, 200, 200],
};

/** Of each user of Next: calls without and with a session, a repeat, one of another site, and the page. */
const sessions = ['Ada', 'Eve'].flatMap((name) => [
  [401, null, null],
  [200, name, null],
  [200, name, 'true'],
  [403, null, null],
  `${name} reads Middlemarch`,
]);

/** Returns the expected output of `calls.mts` for these protocols. */
export const callsOf = (protocols: readonly string[]) =>
  Object.fromEntries(
    Object.entries({ ...expectedCalls, sessions }).filter(([name]) => protocols.includes(name)),
  );
