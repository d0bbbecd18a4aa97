import { initTRPC } from '@trpc/server';
import { observable } from '@trpc/server/observable';
import { z } from 'zod';
import { Panel } from '../shared/panel';

const t = initTRPC.create({ isServer: true });

const terminal = t.router({
  output: t.procedure.input(z.object({ id: z.string() })).subscription(({ input }) =>
    observable<string, Error>((emit) => {
      emit.next(`${input.id}: ready`);
      emit.next(`${input.id}: done`);
      emit.complete();
    }),
  ),
  fail: t.procedure.subscription(() =>
    observable<string, Error>((emit) => {
      emit.next('one');
      emit.error(new Error('The terminal has ended.'));
    }),
  ),
  write: t.procedure
    .input(z.object({ id: z.string(), data: z.string() }))
    .mutation(({ input }) => input.data.length),
});

const window = t.router({
  panel: t.procedure.input(z.nativeEnum(Panel)).query(({ input }) => input),
  size: t.procedure.query((): [number, number] => [800, 600]),
});

export default t.router({ terminal, window });
