import { initTRPC, tracked, TRPCError } from '@trpc/server';
import type { CreateHTTPContextOptions } from '@trpc/server/adapters/standalone';
import type { CreateWSSContextFnOptions } from '@trpc/server/adapters/ws';
import { observable } from '@trpc/server/observable';
import { z } from 'zod';
import { Order } from './order';

export const createContext = (opts: CreateHTTPContextOptions | CreateWSSContextFnOptions) => ({
  name: opts.info.connectionParams?.name ?? opts.req.headers['x-name'],
  address: opts.req.socket.remoteAddress,
});

interface Meta {
  scopes?: string[];
  openapi?: { contentTypes: string[] };
}

const t = initTRPC.context<typeof createContext>().meta<Meta>().create();
const scoped = t.procedure.use(({ ctx, meta, next }) => {
  if (meta?.scopes?.includes('write') && ctx.name === undefined) throw new TRPCError({ code: 'FORBIDDEN' });
  return next();
});

const messages = [
  { id: 1, text: 'Hello' },
  { id: 2, text: 'Bye' },
];

export const appRouter = t.router({
  post: t.router({
    add: scoped
      .meta({ scopes: ['write'] })
      .input(z.object({ text: z.string().min(1) }))
      .mutation(({ input, ctx }) => `${String(ctx.name)}: ${input.text}`),
    attach: t.procedure
      .meta({ openapi: { contentTypes: ['multipart/form-data'] } })
      .input(z.instanceof(FormData))
      .mutation(({ input }) => [...input.keys()]),
    list: scoped
      .input(
        z.object({
          cursor: z.date().nullish(),
          take: z.number().min(1).max(50).nullish(),
          order: z.nativeEnum(Order).default(Order.Oldest),
        }),
      )
      .query(({ input: { order, take } }) =>
        (order === Order.Newest ? messages.toReversed() : messages).slice(0, take ?? 50),
      ),
    onType: t.procedure.input(z.object({ name: z.string() })).subscription(({ input }) =>
      observable<string, Error>((emit) => {
        emit.next(`${input.name} types`);
        emit.complete();
      }),
    ),
    onBan: t.procedure.subscription(() =>
      observable<string, Error>((emit) => {
        emit.next('warned');
        emit.error(new Error('The user is banned.'));
      }),
    ),
    onAdd: t.procedure
      .input(z.object({ lastEventId: z.coerce.number().nullish() }).optional())
      .subscription(async function* ({ input }) {
        for (const message of messages) {
          if (message.id > (input?.lastEventId ?? 0)) yield tracked(String(message.id), message);
        }
      }),
    onPin: t.procedure.output(z.custom<AsyncIterable<string>>()).subscription(async function* () {
      yield 'pinned';
    }),
  }),
  whoami: t.procedure.query(({ ctx }) => ctx.address),
});
