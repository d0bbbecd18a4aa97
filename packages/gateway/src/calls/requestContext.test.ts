import { expect, it } from 'vitest';
import { z } from 'zod';
import { t, testGateway } from '../testing/testGateway.ts';

it.each(['/v1/look', '/trpc/look', '/trpc/look?batch=1'])(
  'GET %s provides an aborted signal to the procedure if the client disconnected before the signal was first read',
  async (target) => {
    const seen: unknown[] = [];
    const gateway = await testGateway(
      t.router({
        look: t.procedure
          .meta({ openapi: { method: 'GET', path: '/look' } })
          .output(z.void())
          .query(({ signal }) => void seen.push(signal?.aborted)),
      }),
    );
    await gateway.fetch(new Request(`http://localhost${target}`, { signal: AbortSignal.abort() }));
    expect(seen).toEqual([true]);
  },
);
