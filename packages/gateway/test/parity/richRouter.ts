import type { GatewayMeta, ResponseControls, RestMeta } from 'trpc-gateway/procedures';
import { initTRPC } from '@trpc/server';
import { z } from 'zod';

/**
 * Returns input schemas of many types, including types that JSON does not have. Each call creates new schemas, so that a test
 * can validate with a copy that no gateway has touched.
 */
export function richInputs() {
  const fields = {
    text: z.string().max(6),
    count: z.int().min(0),
    ratio: z.number().optional(),
    on: z.boolean().default(false),
    kind: z.enum(['novel', 'poem']).optional(),
    shelf: z.literal([1, 2, 'annex', true]).optional(),
    note: z.string().nullable().optional(),
    tags: z.array(z.string().min(1)).max(3).default([]),
    at: z
      .codec(z.iso.datetime(), z.date(), {
        decode: (value) => new Date(value),
        encode: (value) => value.toISOString(),
      })
      .optional(),
    size: z.tuple([z.int(), z.int()]).optional(),
    place: z
      .discriminatedUnion('type', [
        z.object({ type: z.literal('shelf'), row: z.int() }),
        z.strictObject({ type: z.literal('lent'), to: z.string().trim().min(1) }),
      ])
      .optional(),
    scores: z.record(z.string(), z.int()).optional(),
    either: z
      .union([
        z.int(),
        z
          .string()
          .regex(/^\d+$/)
          .transform((value) => `text ${value}`),
        z.null(),
      ])
      .optional(),
    anything: z.unknown(),
  };
  const id = z.int().brand('Id');
  return {
    create: z.object(fields),
    replace: z.object({ id, ...fields }),
    update: z.object({ id, ...z.object(fields).omit({ anything: true }).partial().shape }),
    search: z.object({
      text: fields.text.optional(),
      count: fields.count.optional(),
      ratio: fields.ratio,
      on: fields.on,
      kind: fields.kind,
      tags: fields.tags,
    }),
    remove: z.object({ id, on: fields.on }),
  };
}

export type RichProcedure = keyof ReturnType<typeof richInputs>;

export const richMeta = {
  create: { method: 'POST', path: '/things', successStatus: 201 },
  replace: { method: 'PUT', path: '/things/{id}' },
  update: { method: 'PATCH', path: '/things/{id}' },
  search: { method: 'GET', path: '/things' },
  remove: { method: 'DELETE', path: '/things/{id}' },
} as const satisfies Record<RichProcedure, RestMeta>;

const t = initTRPC.context<{ response: ResponseControls }>().meta<GatewayMeta>().create();

/** The input of the resolver. The output schema strips `secret`. */
const ReceivedInput = z.object({ seen: z.unknown() });
const returnInput = ({ input }: { readonly input: object }) => ({ seen: { ...input }, secret: 'hunter2' });

export function richRouter() {
  const inputs = richInputs();
  const at = (name: RichProcedure) =>
    t.procedure.meta({
      openapi: richMeta[name],
      mcp: { enabled: true, description: 'A tool of the tests.' },
    });
  return t.router({
    create: at('create').input(inputs.create).output(ReceivedInput).mutation(returnInput),
    replace: at('replace').input(inputs.replace).output(ReceivedInput).mutation(returnInput),
    update: at('update').input(inputs.update).output(ReceivedInput).mutation(returnInput),
    search: at('search').input(inputs.search).output(ReceivedInput).query(returnInput),
    remove: at('remove').input(inputs.remove).output(ReceivedInput).mutation(returnInput),
  });
}
