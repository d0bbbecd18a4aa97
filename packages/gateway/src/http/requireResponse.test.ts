import { expect, it } from 'vitest';
import { requireResponse } from './requireResponse.ts';

const head = { status: 200, headers: [] };

it.each([undefined, null, '', new Uint8Array(1), new ReadableStream()])(
  'requireResponse accepts a response with the body %s',
  (body) => {
    const response = { ...head, body };
    expect(requireResponse(response, 'The route')).toBe(response);
  },
);

it.each([5, {}, ['a']])('requireResponse rejects a response with the body %j', (body) => {
  expect(() => requireResponse({ ...head, body }, 'The route')).toThrow(
    /^The route returned a body that is .*; it must be a string, bytes or a stream/,
  );
});

it.each([undefined, 'ok', { headers: [] }, { status: '200', headers: [] }, { status: 200 }])(
  'requireResponse rejects %j',
  (value) => {
    expect(() => requireResponse(value, 'The route')).toThrow(/it must return a response, such as/);
  },
);
