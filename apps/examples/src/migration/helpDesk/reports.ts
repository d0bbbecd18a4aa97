import { z } from 'zod';
import { AppError } from './appError.ts';
import { table } from './tickets.ts';
import { procedure, publicProcedure, router } from './trpc.ts';

const tags = ['reports'];
const day = 86_400_000;

export const reports = router({
  volume: procedure
    .meta({ openapi: { method: 'GET', path: '/reports/volume', tags } })
    .input(z.object({ from: z.date(), to: z.date(), weekly: z.boolean().default(false) }))
    .output(z.object({ days: z.number(), opened: z.number(), weekly: z.boolean() }))
    .query(({ input: { from, to, weekly } }) => {
      if (to < from) throw new AppError('CONFLICT', 'The period ends before it begins.');
      const opened = table.all().filter(({ createdAt }) => createdAt >= from && createdAt < to).length;
      return { days: (to.getTime() - from.getTime()) / day, opened, weekly };
    }),
  largest: procedure
    .meta({ openapi: { method: 'GET', path: '/reports/largest-number', tags } })
    .input(z.object({ first: z.bigint(), second: z.bigint() }))
    .output(z.string())
    .query(({ input: { first, second } }) => String(first > second ? first : second)),
  broken: procedure
    .meta({ openapi: { method: 'GET', path: '/reports/broken', tags } })
    .input(z.object({}))
    .output(z.array(z.number()))
    .query(() => {
      throw new Error('The report is not ready. Try again tomorrow.');
    }),
  overdue: procedure.query(() => table.all().filter(({ due, createdAt }) => due !== null && due < createdAt)),
  assignees: procedure.query(() => Object.groupBy(table.all(), ({ assignee }) => assignee ?? 'none')),
  firstComment: procedure
    .input(z.object({ ticket: z.number() }))
    .query(({ input: { ticket } }) => table.get(ticket).comments.at(0)),
  opened: procedure
    .input(z.tuple([z.date(), z.date()]).rest(z.date()))
    .query(({ input }) =>
      input.map((at) => [at, table.all().filter(({ createdAt }) => createdAt <= at).length] as const),
    ),
  limited: procedure.query(() => {
    throw new AppError('TOO_MANY_REQUESTS', 'Too many reports.', 'Wait a minute.');
  }),
});

const settingsOf = { name: 'Help desk', locale: 'en', dark: false, hours: [9, 17] };

export const settings = router({
  get: procedure
    .meta({ openapi: { method: 'GET', path: '/settings', tags: ['settings'] } })
    .input(z.object({}).optional())
    .output(z.looseObject({ name: z.string() }))
    .query(() => settingsOf),
  set: procedure
    .meta({ openapi: { method: 'PATCH', path: '/settings', tags: ['settings'] } })
    .input(z.looseObject({ name: z.string().optional() }))
    .output(z.looseObject({ name: z.string() }))
    .mutation(({ input }) => Object.assign(settingsOf, input)),
});

export const service = router({
  version: publicProcedure
    .meta({ openapi: { method: 'GET', path: '/version', tags: ['service'], protect: false } })
    .input(z.void())
    .output(z.object({ version: z.string() }))
    .query(() => ({ version: '2.0.0' })),
});
