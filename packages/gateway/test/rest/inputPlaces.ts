import type { GatewayMeta, RestMeta } from 'trpc-gateway/procedures';
import { initTRPC } from '@trpc/server';
import { z } from 'zod';

// Shapes of inputs. Test titles name the GitHub threads that ask for them.

export const t = initTRPC.meta<GatewayMeta>().create();

const onPath = <Input extends z.ZodType>(rest: RestMeta, input: Input) =>
  t.procedure.meta({ openapi: rest }).input(input).output(z.json());
const asJson = ({ input }: { readonly input: unknown }) =>
  JSON.parse(JSON.stringify(input ?? null)) as z.core.util.JSONType;

/** A query that returns its input. */
export const echo = <Input extends z.ZodType>(rest: RestMeta, input: Input) =>
  onPath(rest, input).query(asJson);

/** A mutation that returns its input. */
const change = <Input extends z.ZodType>(rest: RestMeta, input: Input) =>
  onPath(rest, input).mutation(asJson);

export const json = 'application/json';

const Cat = z.object({ kind: z.literal('cat'), lives: z.int() }).meta({ id: 'Cat' });

const Dog = z.object({ kind: z.literal('dog'), born: z.date() }).meta({ id: 'Dog' });

const Animal = z.discriminatedUnion('kind', [Cat, Dog]);

export const animals = t.router({ add: change({ method: 'POST', path: '/animals' }, Animal) });

export const animalsByPath = t.router({ put: change({ method: 'PUT', path: '/animals/{kind}' }, Animal) });

const Payment = z.union([z.object({ card: z.string() }), z.object({ iban: z.string(), name: z.string() })]);

const pay = t.procedure
  .meta({ openapi: { method: 'POST', path: '/orders/{orderId}/payments', in: { dryRun: 'query' } } })
  .input(z.object({ orderId: z.int(), dryRun: z.boolean().optional() }))
  .input(Payment)
  .output(z.unknown())
  .mutation(({ input }) => input);

export const payments = t.router({ pay });

const Events = z.array(z.object({ at: z.date(), n: z.int() })).max(2);

export const eventLog = t.router({ log: change({ method: 'POST', path: '/events' }, Events) });

export const scalars = t.router({
  greet: change({ method: 'POST', path: '/greetings' }, z.string().min(1)),
  set: change({ method: 'PUT', path: '/level' }, z.int().nullable().optional()),
});

/** @public A shape of `generatedClients/composed.ts`, which takes all exports. */
export const tuples = t.router({
  put: change(
    { method: 'PUT', path: '/tuples' },
    z.object({
      pair: z.tuple([z.string(), z.int()]),
      most: z.tuple([z.int(), z.int().optional()]),
      mixed: z.literal(['a', 1]),
    }),
  ),
});

export const records = t.router({
  translate: change({ method: 'PUT', path: '/texts' }, z.record(z.string(), z.string())),
  store: change(
    { method: 'PUT', path: '/any' },
    z.union([z.array(z.int()), z.object({ a: z.int() }), z.null()]),
  ),
});

const Edited = z.intersection(z.object({ title: z.string() }).partial(), z.object({ id: z.string() }));

export const notes = t.router({ edit: change({ method: 'PATCH', path: '/notes/{id}' }, Edited) });

export const patchTypes = [json, 'application/merge-patch+json'];

const Change = z.object({
  id: z.int(),
  title: z.string().optional(),
  isbn: z.string().nullable().optional(),
});

export const mergePatch = t.router({
  edit: change({ method: 'PATCH', path: '/books/{id}', contentTypes: patchTypes }, Change),
});

const Thing = z.union([
  z.object({ type: z.literal('first'), myVar: z.string() }),
  z.object({ type: z.literal('another'), anotherVar: z.number() }),
  z.object({ type: z.literal('third') }),
]);

export const queryUnion = t.router({ thing: echo({ method: 'GET', path: '/thing' }, Thing) });

export const deepObjects = t.router({
  list: echo(
    { method: 'GET', path: '/things' },
    z.object({
      pagination: z.object({ page: z.int().default(1), limit: z.int().max(100).default(10) }).optional(),
      filter: z
        .object({
          name: z.string().optional(),
          range: z.object({ min: z.int() }).optional(),
          ids: z.array(z.int()).optional(),
        })
        .optional(),
    }),
  ),
});

const NestedFilter = z.object({
  is: z.string().optional(),
  get not() {
    return NestedFilter.optional();
  },
});

const Found = z.object({
  sort: z.record(z.string(), z.enum(['asc', 'desc'])).optional(),
  filter: NestedFilter.optional(),
});

export const selfReferences = t.router({ find: echo({ method: 'GET', path: '/found' }, Found) });

const list = t.procedure
  .meta({
    openapi: {
      method: 'GET',
      path: '/pages/{+path}',
      pagination: { cursor: 'after' },
    },
  })
  .input(
    z.object({
      path: z.string(),
      after: z.string().optional(),
      tags: z.array(z.string()).optional(),
      ids: z.array(z.int()).optional(),
      filter: z.object({ name: z.string() }).optional(),
    }),
  )
  .output(z.unknown())
  .query(({ ctx, input }) => {
    if (input.after === undefined)
      (ctx as { response: { nextCursor?: string } }).response.nextCursor = 'x & y';
    return input;
  });

export const pages = t.router({ list });

export const queryOfPost = t.router({
  hook: change(
    {
      method: 'POST',
      path: '/hooks',
      in: { token: 'query', tries: { in: 'query', name: 'max-tries' } },
    },
    z.object({
      token: z.string(),
      tries: z.int().optional(),
      event: z.string(),
      more: z.object({ token: z.string() }).optional(),
    }),
  ),
});

const Listed = z.object({
  tenant: z.int().min(1),
  features: z.array(z.enum(['a', 'b'])).optional(),
  at: z.date().optional(),
  name: z.string(),
});

export const inHeaders = t.router({
  list: echo(
    {
      method: 'GET',
      path: '/things',
      in: {
        tenant: { in: 'header', name: 'X-Tenant' },
        features: { in: 'header', name: 'X-Features' },
        at: 'header',
      },
    },
    Listed,
  ),
});

const Look = z.object({ theme: z.enum(['dark', 'light']).default('light'), size: z.int().optional() });

export const inCookies = t.router({
  look: echo(
    {
      method: 'GET',
      path: '/look',
      in: { theme: 'cookie', size: { in: 'cookie', name: '__Host-size' } },
    },
    Look,
  ),
});

export const bodyOfDelete = t.router({
  drop: change(
    { method: 'DELETE', path: '/things/{id}', in: { reason: 'body', id: { in: 'path', name: 'id' } } },
    z.object({ id: z.int(), reason: z.string(), force: z.boolean().default(false) }),
  ),
});

export const renamedInPath = t.router({
  get: echo(
    { method: 'GET', path: '/pets/{petId}', in: { id: { in: 'path', name: 'petId' } } },
    z.object({ id: z.int() }),
  ),
});

export const restOfPath = t.router({
  file: echo({ method: 'GET', path: '/files/{+path}' }, z.object({ path: z.string() })),
  info: echo({ method: 'GET', path: '/files/info' }, z.object({})),
  one: echo({ method: 'GET', path: '/buckets/{bucket}' }, z.object({ bucket: z.string() })),
  key: echo(
    { method: 'GET', path: '/buckets/{bucket}/{+key}' },
    z.object({ bucket: z.string(), key: z.array(z.string()) }),
  ),
});
