import { expect, it } from 'vitest';
import { readCallLimits } from './callLimits.ts';
import { GatewayError } from './gatewayError.ts';

it.each<[meta: unknown, deadlineMs: number | undefined, rateLimitCost: number]>([
  [undefined, undefined, 1],
  [null, undefined, 1],
  [{}, undefined, 1],
  [{ openapi: null }, undefined, 1],
  [{ deadlineMs: 0.5, rateLimitCost: 0 }, 0.5, 0],
  [{ deadlineMs: Infinity, rateLimitCost: 5 }, Infinity, 5],
])(
  'readCallLimits reads the metadata %j as a deadline of %s ms and a cost of %i',
  (meta, deadlineMs, rateLimitCost) => {
    expect(readCallLimits('a', meta)).toEqual({ deadlineMs, rateLimitCost });
  },
);

it.each<[meta: unknown, problem: string]>([
  [{ deadlineMs: 0 }, 'deadlineMs: 0; it must be a positive number of milliseconds, or Infinity'],
  [{ deadlineMs: NaN }, 'deadlineMs: null; it must be'],
  [{ deadlineMs: '5' }, 'deadlineMs: "5"; it must be'],
  [{ rateLimitCost: -1 }, 'rateLimitCost: -1; it must be an integer of 0 or more'],
  [{ rateLimitCost: 1.5 }, 'rateLimitCost: 1.5; it must be'],
  [{ rateLimitCost: Infinity }, 'rateLimitCost: null; it must be'],
  [{ rateLimitCost: '1' }, 'rateLimitCost: "1"; it must be'],
  [{ openapi: { rateLimitCost: 1 } }, 'rateLimitCost in meta.openapi, where it would apply only to REST'],
  [{ openapi: { deadlineMs: 1 } }, 'deadlineMs in meta.openapi, where it would apply only to REST'],
])('readCallLimits rejects the metadata %j', (meta, problem) => {
  expect(() => readCallLimits('a.b', meta)).toThrow(GatewayError);
  expect(() => readCallLimits('a.b', meta)).toThrow(`Procedure "a.b" has ${problem}`);
});
