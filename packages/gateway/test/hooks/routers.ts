import type { GatewayMeta } from 'trpc-gateway/procedures';
import { initTRPC, TRPCError } from '@trpc/server';
import { z } from 'zod';
import type { oas31 } from 'zod-openapi';

// Shapes for the tests of hooks, and changes to the document.

const t = initTRPC.context<{ readonly user?: string }>().meta<GatewayMeta>().create();

export const hookOrder: string[] = [];

const logged = t.procedure.use(({ next }) => {
  hookOrder.push('middleware');
  return next();
});

export const hooked = t.router({
  read: logged
    .meta({ openapi: { method: 'GET', path: '/read' } })
    .input(z.object({ name: z.string().min(2) }))
    .query(({ ctx, input }) => {
      hookOrder.push('resolver');
      return `${input.name} of ${ctx.user ?? 'none'}`;
    }),
  conflict: t.procedure.meta({ openapi: { method: 'GET', path: '/conflict' } }).query(() => {
    throw new TRPCError({ code: 'CONFLICT', message: 'Taken.' });
  }),
  upload: t.procedure
    .meta({ openapi: { method: 'POST', path: '/upload' } })
    .input(z.object({ size: z.int() }))
    .mutation(({ input }) => input.size),
});

export const transformed = t.router({
  described: t.procedure.meta({ openapi: { method: 'GET', path: '/described' } }).query(() => 'here'),
  hidden: t.procedure.meta({ openapi: { method: 'POST', path: '/hidden' } }).mutation(() => 'served'),
});

/** Marks `/described` as internal and leaves `/hidden` out, below `prefix`. */
export function transformPaths(paths: oas31.PathsObject, prefix: `/${string}` | '' = ''): oas31.PathsObject {
  const described = paths[`${prefix}/described`];
  const { [`${prefix}/hidden`]: _hidden, ...others } = paths;
  return {
    ...others,
    ...(described?.get && {
      [`${prefix}/described`]: { ...described, get: { ...described.get, 'x-internal': true } },
    }),
  };
}
