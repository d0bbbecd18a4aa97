import { TRPCError } from '@trpc/server';
import { z } from 'zod';
import { AppError } from './appError.ts';
import { now, Table } from './table.ts';
import { adminProcedure, procedure, router } from './trpc.ts';

const Id = z.number().int().positive();
const Priority = z.enum(['low', 'normal', 'high']);
const Comment = z.object({ author: z.string(), text: z.string(), at: z.date(), internal: z.boolean() });
const Ticket = z.object({
  id: Id,
  createdAt: z.date(),
  subject: z.string(),
  priority: Priority,
  status: z.enum(['open', 'closed']),
  due: z.date().nullable(),
  assignee: z.string().nullable(),
  requester: z.object({ email: z.string(), phone: z.number().optional() }),
  labels: z.array(z.string()),
  comments: z.array(Comment),
  watchers: z.array(z.string()),
});
const tags = ['tickets'];

export const table = new Table<Omit<z.infer<typeof Ticket>, 'id' | 'createdAt'>>('ticket');

export const tickets = router({
  list: procedure
    .meta({ openapi: { method: 'GET', path: '/tickets', tags } })
    .input(
      z
        .object({
          status: z.enum(['open', 'closed']).optional(),
          priority: Priority.optional(),
          dueBefore: z.date().optional(),
          unassigned: z.boolean().optional(),
          limit: z.number().min(1).max(50).default(10),
        })
        .optional(),
    )
    .output(z.array(Ticket))
    .query(({ input = {} }) =>
      table
        .all()
        .filter(({ status }) => input.status === undefined || status === input.status)
        .filter(({ priority }) => input.priority === undefined || priority === input.priority)
        .filter(({ due }) => input.dueBefore === undefined || (due !== null && due < input.dueBefore))
        .filter(({ assignee }) => input.unassigned !== true || assignee === null)
        .slice(0, input.limit ?? 10),
    ),
  byId: procedure
    .meta({ openapi: { method: 'GET', path: '/tickets/{id}', tags } })
    .input(z.object({ id: Id }))
    .output(Ticket)
    .query(({ input: { id } }) => table.get(id)),
  create: procedure
    .meta({ openapi: { method: 'POST', path: '/tickets', tags, successDescription: 'The new ticket' } })
    .input(
      z.object({
        subject: z.string().min(1),
        text: z.string(),
        priority: Priority.default('normal'),
        due: z.date().nullish(),
        requester: z.object({ email: z.email(), phone: z.number().optional() }),
        labels: z.array(z.string()).default([]),
      }),
    )
    .output(Ticket)
    .mutation(({ input: { subject, text, priority, due = null, requester, labels } }) =>
      table.add({
        subject,
        priority,
        due,
        requester,
        labels,
        status: 'open',
        assignee: null,
        comments: [{ author: requester.email, text, at: now(), internal: false }],
        watchers: [],
      }),
    ),
  update: procedure
    .meta({ openapi: { method: 'PUT', path: '/tickets/{id}', tags } })
    .input(z.object({ id: Id, subject: z.string().min(1), priority: Priority, due: z.date().nullable() }))
    .output(Ticket)
    .mutation(({ input: { id, ...changes } }) => table.change(id, changes)),
  assign: procedure
    .meta({ openapi: { method: 'POST', path: '/tickets/{id}/assign', tags } })
    .input(z.object({ id: Id }))
    .input(z.object({ assignee: z.email() }))
    .output(Ticket)
    .mutation(({ input: { id, assignee } }) => table.change(id, { assignee })),
  close: procedure
    .meta({ openapi: { method: 'POST', path: '/tickets/{id}/close', tags } })
    .input(z.object({ id: Id }))
    .output(Ticket)
    .mutation(({ input: { id } }) => {
      if (table.get(id).status === 'closed')
        throw new AppError('CONFLICT', `The ticket ${id} is closed.`, 'Reopen it.');
      return table.change(id, { status: 'closed' });
    }),
  reopen: procedure
    .meta({ openapi: { method: 'POST', path: '/tickets/{id}/reopen', tags } })
    .input(z.object({ id: Id }))
    .output(Ticket)
    .mutation(({ input: { id } }) => table.change(id, { status: 'open' })),
  comment: procedure
    .meta({ openapi: { method: 'POST', path: '/tickets/{id}/comments', tags } })
    .input(z.object({ id: Id, text: z.string().min(1), internal: z.boolean().optional() }))
    .output(Comment)
    .mutation(({ ctx: { session }, input: { id, text, internal = false } }) => {
      const comment = { author: session.email, text, at: now(), internal };
      table.change(id, { comments: [...table.get(id).comments, comment] });
      return comment;
    }),
  comments: procedure
    .meta({ openapi: { method: 'GET', path: '/tickets/{id}/comments', tags } })
    .input(z.object({ id: Id, since: z.date().optional() }))
    .output(z.array(Comment))
    .query(({ input: { id, since } }) =>
      table.get(id).comments.filter(({ at }) => since === undefined || at >= since),
    ),
  watch: procedure
    .meta({ openapi: { method: 'PUT', path: '/tickets/{id}/watch', tags } })
    .input(z.object({ id: Id }))
    .output(z.void())
    .mutation(({ ctx: { session }, input: { id } }) => {
      table.change(id, { watchers: [...table.get(id).watchers, session.email] });
    }),
  purge: adminProcedure
    .meta({ openapi: { method: 'POST', path: '/tickets/purge', tags, errorResponses: [403] } })
    .input(z.object({ closedBefore: z.date() }))
    .output(z.object({ removed: z.number() }))
    .mutation(({ input: { closedBefore } }) => {
      const old = table.all().filter((one) => one.status === 'closed' && one.createdAt < closedBefore);
      for (const { id } of old) table.remove(id);
      return { removed: old.length };
    }),

  // Of the web app: without metadata, so over tRPC alone.
  unwatch: procedure.input(z.object({ id: Id })).mutation(({ ctx: { session }, input: { id } }) => {
    const watchers = table.get(id).watchers.filter((email) => email !== session.email);
    return table.change(id, { watchers });
  }),
  merge: procedure.input(z.object({ id: Id, into: Id })).mutation(({ input: { id, into } }) => {
    if (id === into) throw new TRPCError({ code: 'BAD_REQUEST', message: 'A ticket is not its own copy.' });
    const merged = table.change(into, { comments: [...table.get(into).comments, ...table.get(id).comments] });
    table.remove(id);
    return merged;
  }),
  closeMany: procedure.input(z.array(Id)).mutation(({ input: ids }) => {
    for (const id of ids) table.change(id, { status: 'closed' });
    return ids.length;
  }),
  labels: procedure.query(() => new Map(table.all().map(({ id, labels }) => [id, new Set(labels)]))),
});
