import { initTRPC, TRPCError } from '@trpc/server';
import superjson from 'superjson';
import { z } from 'zod';

/** The token of the only user. */
export const token = 'good';

const t = initTRPC
  .context<{ readonly token: string | undefined }>()
  .create({ transformer: superjson, isDev: false });
const procedure = t.procedure.use(({ ctx, next }) => {
  if (ctx.token !== `Bearer ${token}`) throw new TRPCError({ code: 'UNAUTHORIZED' });
  return next();
});

const id = z.string().min(1);
const settings = z.object({
  name: id.max(63),
  description: z.string().nullish(),
  replicas: z.number().int().min(0).default(1),
  autoDeploy: z.boolean().optional(),
  ports: z.array(z.object({ published: z.number(), protocol: z.enum(['tcp', 'udp']) })).default([]),
  labels: z.record(z.string(), z.string()).optional(),
});

/** Ten procedures of one kind of service, without metadata, as a web app has them. */
function service(kind: string) {
  const ref = z.object({ [`${kind}Id`]: id });
  return t.router({
    one: procedure.input(ref).query(({ input }) => ({ ...input, createdAt: new Date(0) })),
    all: procedure.query(() => [{ kind }]),
    search: procedure
      .input(z.object({ q: z.string().optional(), limit: z.number().int().max(100).default(20) }))
      .query(({ input }) => input),
    // No URL can carry it, so REST serves it by POST.
    compare: procedure
      .input(z.object({ changes: z.array(settings.partial()) }))
      .query(({ input }) => input.changes.length),
    create: procedure.input(settings).mutation(({ input }) => ({ [`${kind}Id`]: '1', ...input })),
    update: procedure.input(settings.partial().extend(ref.shape)).mutation(({ input }) => input),
    remove: procedure.input(ref).mutation(() => true),
    deploy: procedure.input(ref.extend({ title: z.string().optional() })).mutation(() => true),
    saveEnvironment: procedure
      .input(ref.extend({ env: z.string() }))
      .output(z.void())
      .mutation(() => {}),
    move: procedure.input(ref.extend({ environmentId: id })).mutation(({ input }) => input),
  });
}

const kinds = Array.from({ length: 60 }, (_, index) => `service${index + 1}`);

/** A router of 600 procedures. */
export const appRouter = t.router(Object.fromEntries(kinds.map((kind) => [kind, service(kind)])));

/** A valid request of each procedure, by its name in a service of this kind. */
export const samplesOf = (kind: string) => {
  const ref = { [`${kind}Id`]: '1' };
  return {
    one: { query: ref },
    all: {},
    search: { query: { q: 'web', limit: 5 } },
    compare: { body: { changes: [{ name: 'web' }] } },
    create: { body: { name: 'web', ports: [{ published: 80, protocol: 'tcp' }] } },
    update: { body: { ...ref, replicas: 2 } },
    remove: { body: ref },
    deploy: { body: ref },
    saveEnvironment: { body: { ...ref, env: 'A=1' } },
    move: { body: { ...ref, environmentId: 'e' } },
  };
};
