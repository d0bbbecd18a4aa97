import type { GatewayMeta } from 'trpc-gateway/procedures';
import type { Policy } from 'trpc-gateway';
import { initTRPC, TRPCError } from '@trpc/server';
import { z } from 'zod';

// Two policies as services write them: a tenant from the host name with its own limit, and an audit log that is stored
// before the response.

export interface Tenant {
  readonly name: string;
  /** The number of calls that are left. */
  left: number;
}

const t = initTRPC.context<{ readonly tenant: string | undefined }>().meta<GatewayMeta>().create();

export const router = t.router({
  list: t.procedure
    .meta({ openapi: { method: 'GET', path: '/notes' } })
    .output(z.string())
    .query(({ ctx }) => `notes of ${ctx.tenant}`),
  add: t.procedure
    .meta({ openapi: { method: 'POST', path: '/notes' } })
    .input(z.object({ text: z.string().min(1) }))
    .output(z.string())
    .mutation(({ input }) => input.text),
  changes: t.procedure
    .meta({ openapi: { method: 'GET', path: '/changes', event: z.int() } })
    .subscription(async function* changes() {
      yield 1;
      yield 2;
    }),
});

/** Finds the tenant by the first label of the host, or by the header `x-tenant`, and counts its calls. */
export function tenantPolicy(tenants: ReadonlyMap<string, Tenant>): Policy<unknown, { tenant: Tenant }> {
  return {
    admit({ data, kind, procedures, request }) {
      // A call on a WebSocket has the tenant of its socket.
      if (kind !== 'call') {
        const name = request.header('x-tenant') ?? request.header('host')?.split('.')[0] ?? '';
        const found = tenants.get(name);
        if (found === undefined)
          return new TRPCError({ code: 'NOT_FOUND', message: 'There is no such tenant.' });
        data.tenant = found;
      }
      const { tenant } = data;
      if (tenant === undefined || kind === 'socket') return undefined;
      if (tenant.left < procedures.length) {
        const cause = Object.assign(new Error('The limit of a tenant'), { retryAfterSeconds: 30 });
        return new TRPCError({
          code: 'TOO_MANY_REQUESTS',
          message: `${tenant.name} has no calls left.`,
          cause,
        });
      }
      tenant.left -= procedures.length;
      return undefined;
    },
  };
}

export interface AuditEntry {
  readonly calls: readonly string[];
  readonly status: number;
  readonly tenant: string | undefined;
}

/** Stores who has changed what before the client learns of it. */
export const auditPolicy = (
  store: (entry: AuditEntry) => Promise<void>,
): Policy<unknown, { tenant: Tenant }> => ({
  async complete({ data, procedures }, { status }) {
    if (!procedures.some(({ type }) => type === 'mutation')) return;
    await store({ calls: procedures.map(({ path }) => path), status, tenant: data.tenant?.name });
  },
});
