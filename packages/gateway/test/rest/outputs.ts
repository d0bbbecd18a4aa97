import type { GatewayMeta, ResponseControls, RestMeta } from 'trpc-gateway/procedures';
import { initTRPC } from '@trpc/server';
import { z } from 'zod';

// Shapes of outputs. Test titles name the GitHub threads that ask for them.

const t = initTRPC.context<{ response: ResponseControls }>().meta<GatewayMeta>().create();

const get = (path: `/${string}`, rest: Partial<RestMeta> = {}) =>
  t.procedure.meta({ openapi: { method: 'GET', path, ...rest } });

const Pet = z.object({ id: z.int(), name: z.string() });

const rows = z.array(Pet);

const csv = (pets: z.output<typeof rows>) =>
  `id,name\n${pets.map(({ id, name }) => `${id},${name}\n`).join('')}`;

export const exportRouter = t.router({
  pets: get('/pets', {
    produces: {
      'application/json': true,
      'text/csv; charset=utf-8': csv,
      'application/vnd.pets+json': true,
      'application/octet-stream': (pets) =>
        ReadableStream.from([Buffer.from(csv(pets)), Buffer.from('end')]) as ReadableStream<Uint8Array>,
    },
  })
    .input(z.object({ none: z.boolean().default(false) }))
    .output(rows)
    .query(({ input }) => {
      if (input.none) throw new Error('The database is gone.');
      return [{ id: 1, name: 'Rex' }];
    }),
  remove: t.procedure
    .meta({
      openapi: { method: 'DELETE', path: '/pets', produces: { 'text/plain': (text: string) => text } },
    })
    .output(z.string().optional())
    .mutation(() => undefined),
  blob: get('/blob', {
    produces: {
      'text/html': (text: string) => new Blob([`<p>${text}</p>`], { type: 'text/plain' }),
      'application/octet-stream': (text: string) => new Blob([text]),
    },
  }).query(() => 'Rex'),
  broken: get('/broken', { produces: { 'text/plain': () => 5 as unknown as string } }).query(() => 5),
});

/** Codecs between strings in JSON, and dates and numbers in procedures. */
const isoDate = z.codec(z.iso.datetime(), z.date(), {
  decode: (text) => new Date(text),
  encode: (date) => date.toISOString(),
});

const cents = z.codec(z.string().regex(/^\d+\.\d\d$/), z.int(), {
  decode: (text) => Number(text.replace('.', '')),
  encode: (value) => (value / 100).toFixed(2),
});

const length = z
  .string()
  .transform((text) => text.length)
  .pipe(z.int().min(0));

export const undescribed = t.router({
  pets: get('/pets').query(() => [{ name: 'Rex', born: new Date(0) }]),
  touch: t.procedure.meta({ openapi: { method: 'POST', path: '/touch' } }).mutation(() => {}),
  secret: get('/bigint').query(() => ({ toJSON: () => 1n })),
});

export const statuses = t.router({
  adopt: t.procedure
    .meta({ openapi: { method: 'POST', path: '/adoptions', successStatus: [200, 202, 204] } })
    .input(z.object({ how: z.enum(['now', 'later', 'never', 'unlisted']) }))
    .output(Pet.optional())
    .mutation(({ ctx, input: { how } }) => {
      if (how === 'never') return undefined;
      if (how === 'unlisted') ctx.response.status = 201;
      if (how === 'later') ctx.response.status = 202;
      return { id: 1, name: 'Rex' };
    }),
});

export const travelling = t.router({
  visit: t.procedure
    .meta({ openapi: { method: 'POST', path: '/visits' } })
    .input(z.object({ at: z.date(), until: isoDate, price: cents, name: length }))
    .output(z.object({ at: z.date(), until: isoDate, price: cents, name: length, kind: z.string() }))
    .mutation(({ input: { at, until, price, name } }) => ({
      at,
      until: until.toISOString(),
      price: '12.50',
      name: 'x'.repeat(name),
      kind: `${until.constructor.name} ${typeof price} ${typeof name}`,
    })),
});
