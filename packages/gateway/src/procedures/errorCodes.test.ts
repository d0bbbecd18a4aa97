import { expect, it } from 'vitest';
import { trpcCodeOf } from './errorCodes.ts';

it.each([
  [400, 'BAD_REQUEST'],
  [404, 'NOT_FOUND'],
  [418, 'BAD_REQUEST'],
  [499, 'CLIENT_CLOSED_REQUEST'],
  [500, 'INTERNAL_SERVER_ERROR'],
  [503, 'SERVICE_UNAVAILABLE'],
  [599, 'INTERNAL_SERVER_ERROR'],
])('the code of tRPC for the status %i is %s', (status, code) => {
  expect(trpcCodeOf(status)).toBe(code);
});
