import { initTRPC } from '@trpc/server';
import superjson from 'superjson';
import type { GatewayMeta } from 'trpc-gateway/procedures';
import { accepted, resultOf } from './procedures.ts';

const t = initTRPC.meta<GatewayMeta>().create({ transformer: superjson, isDev: false });

/** A query and a mutation, of which REST serves the query. */
const pair = (folder: string) => ({
  procedure_1: t.procedure
    .meta({ openapi: { method: 'GET', path: `/${folder}procedure_1` } })
    .input(accepted)
    .query(({ input }) => resultOf(`${folder}procedure_1`, input)),
  procedure_2: t.procedure.input(accepted).mutation(({ input }) => resultOf(`${folder}procedure_2`, input)),
});

/** The router of oRPC's suite in tRPC: six procedures in three routers. */
export const router = t.router({
  ...pair(''),
  nested: t.router({ ...pair('nested/'), nested: t.router(pair('nested/nested/')) }),
});
