import { z } from 'zod';
import { AppError } from './appError.ts';
import { adminProcedure, procedure, router } from './trpc.ts';

const Id = z.number().int().positive();
const Priority = z.enum(['low', 'normal', 'high']);
const Ticket = z.object({
  id: Id,
  subject: z.string(),
  priority: Priority,
  status: z.enum(['open', 'closed']),
  due: z.date().nullable(),
  requester: z.object({ email: z.string(), phone: z.number().optional() }),
  labels: z.array(z.string()),
});
type Ticket = z.infer<typeof Ticket>;
const tags = ['tickets'];

const tickets = new Map<number, Ticket>();
let lastId = 0;

/** @throws {AppError} if there is no such ticket */
function get(id: number): Ticket {
  const ticket = tickets.get(id);
  if (!ticket) throw new AppError('NOT_FOUND', `The ticket ${id} does not exist.`);
  return ticket;
}

function put(ticket: Ticket): Ticket {
  tickets.set(ticket.id, ticket);
  return ticket;
}

export const ticketRouter = router({
  list: procedure
    .meta({ openapi: { method: 'GET', path: '/tickets', tags } })
    .input(
      z
        .object({
          priority: Priority.optional(),
          dueBefore: z.date().optional(),
          isClosed: z.boolean().optional(),
          limit: z.number().min(1).max(50).default(10),
        })
        .optional(),
    )
    .output(z.array(Ticket))
    .query(({ input: { dueBefore, isClosed, limit = 10, priority } = {} }) =>
      [...tickets.values()]
        .filter((ticket) => priority === undefined || ticket.priority === priority)
        .filter(({ due }) => dueBefore === undefined || (due !== null && due < dueBefore))
        .filter(({ status }) => isClosed === undefined || isClosed === (status === 'closed'))
        .slice(0, limit),
    ),
  byId: procedure
    .meta({ openapi: { method: 'GET', path: '/tickets/{id}', tags } })
    .input(z.object({ id: Id }))
    .output(Ticket)
    .query(({ input: { id } }) => get(id)),
  create: procedure
    .meta({ openapi: { method: 'POST', path: '/tickets', tags, successDescription: 'The new ticket' } })
    .input(
      z.object({
        subject: z.string().min(1),
        priority: Priority.default('normal'),
        due: z.date().nullish(),
        requester: z.object({ email: z.email(), phone: z.number().optional() }),
        labels: z.array(z.string()).default([]),
      }),
    )
    .output(Ticket)
    .mutation(({ input: { due = null, ...ticket } }) =>
      put({ ...ticket, due, id: (lastId += 1), status: 'open' }),
    ),
  update: procedure
    .meta({ openapi: { method: 'PUT', path: '/tickets/{id}', tags } })
    .input(z.object({ id: Id }))
    .input(z.object({ subject: z.string().min(1), priority: Priority, due: z.date().nullable() }))
    .output(Ticket)
    .mutation(({ input: { id, ...changes } }) => put({ ...get(id), ...changes })),
  close: procedure
    .meta({ openapi: { method: 'POST', path: '/tickets/{id}/close', tags, errorResponses: [409] } })
    .input(z.object({ id: Id }))
    .output(Ticket)
    .mutation(({ input: { id } }) => {
      const ticket = get(id);
      if (ticket.status === 'closed')
        throw new AppError('CONFLICT', `The ticket ${id} is closed.`, 'Reopen it.');
      return put({ ...ticket, status: 'closed' });
    }),
  remove: adminProcedure
    .meta({ openapi: { method: 'DELETE', path: '/tickets/{id}', tags, errorResponses: [403] } })
    .input(z.object({ id: Id }))
    .output(z.void())
    .mutation(({ input: { id } }) => {
      get(id);
      tickets.delete(id);
    }),
  /** A procedure of the web app: without metadata, it is served over tRPC only. */
  labels: procedure.query(
    () => new Map([...tickets.values()].map(({ id, labels }) => [id, new Set(labels)])),
  ),
});
