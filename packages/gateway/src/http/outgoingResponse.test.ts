import { expect, it } from 'vitest';
import { ResponseControls } from './outgoingResponse.ts';

it('response.header replaces earlier values of a header, in any case of its name, and response.append keeps them', () => {
  const controls = new ResponseControls();
  controls.append('Link', 'a');
  controls.append('X-Total', '1');
  controls.append('link', 'b');
  expect(controls.headers).toEqual([
    ['link', 'a'],
    ['x-total', '1'],
    ['link', 'b'],
  ]);
  controls.header('LINK', 'c');
  expect(controls.headers).toEqual([
    ['x-total', '1'],
    ['link', 'c'],
  ]);
});

it.each([
  ['X Total', '1'],
  ['x-total', '1\r\nx-other: 2'],
  ['Content-Length', '1'],
])('response.header and response.append reject the header %j with the value %j', (name, value) => {
  const controls = new ResponseControls();
  const message = `The response header ${JSON.stringify(name)} is not valid: its name must be a token, and its value must not contain CR, LF or NUL. Content-Length, Connection and Transfer-Encoding are set by the server.`;
  expect(() => controls.header(name, value)).toThrow(new TypeError(message));
  expect(() => controls.append(name, value)).toThrow(new TypeError(message));
  expect(controls.headers).toEqual([]);
});

it('response.replayed sets Idempotent-Replayed, and response.redirect sets Location and the status', () => {
  const controls = new ResponseControls();
  controls.replayed();
  controls.redirect('/v1/pets/1', 303);
  expect(controls).toMatchObject({
    status: 303,
    headers: [
      ['idempotent-replayed', 'true'],
      ['location', '/v1/pets/1'],
    ],
  });
});
