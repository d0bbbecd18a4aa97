import { initTRPC } from '@trpc/server';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { createGateway } from '../gateway.ts';
import type { GatewayMeta } from '../procedures/meta.ts';

const t = initTRPC.meta<GatewayMeta>().create({ isDev: false });

it.each(['/v1/look', '/trpc/look', '/trpc/look?batch=1'])(
  'GET %s provides an aborted signal to the procedure if the client disconnected before the signal was first read',
  async (target) => {
    const seen: unknown[] = [];
    const gateway = await createGateway({
      router: t.router({
        look: t.procedure
          .meta({ openapi: { method: 'GET', path: '/look' } })
          .output(z.void())
          .query(({ signal }) => void seen.push(signal?.aborted)),
      }),
      createContext: () => ({}),
      document: { title: 'Signals', version: '0.0.0' },
    });
    await gateway.fetch(new Request(`http://localhost${target}`, { signal: AbortSignal.abort() }));
    expect(seen).toEqual([true]);
  },
);
