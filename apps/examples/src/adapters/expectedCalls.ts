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

/** Returns the expected output of `calls.mts` for these protocols. */
export const callsOf = (protocols: readonly string[]) =>
  Object.fromEntries(Object.entries(expectedCalls).filter(([name]) => protocols.includes(name)));
