import { expect, it } from 'vitest';
import { Reply } from './reply.ts';

it('header replaces what was set or appended under its name in any case, and append adds to it', () => {
  const reply = new Reply();
  reply.append('Link', 'a');
  reply.append('X-Total', '1');
  reply.append('link', 'b');
  expect(reply.headers).toEqual([
    ['link', 'a'],
    ['x-total', '1'],
    ['link', 'b'],
  ]);
  reply.header('LINK', 'c');
  expect(reply.headers).toEqual([
    ['x-total', '1'],
    ['link', 'c'],
  ]);
});

it.each([
  ['X Total', '1'],
  ['x-total', '1\r\nx-other: 2'],
  ['Content-Length', '1'],
])('a header %j with the value %j is rejected', (name, value) => {
  const reply = new Reply();
  const message = `The response header ${JSON.stringify(name)} cannot be written as it is.`;
  expect(() => reply.header(name, value)).toThrow(new TypeError(message));
  expect(() => reply.append(name, value)).toThrow(new TypeError(message));
  expect(reply.headers).toEqual([]);
});

it('replayed and redirect set their headers, and redirect the status', () => {
  const reply = new Reply();
  reply.replayed();
  reply.redirect('/v1/pets/1', 303);
  expect(reply).toMatchObject({
    status: 303,
    headers: [
      ['idempotent-replayed', 'true'],
      ['location', '/v1/pets/1'],
    ],
  });
});
