import { z } from 'zod';
import { Table } from './table.ts';
import { procedure, router } from './trpc.ts';

const Id = z.number().int().positive();

/** The procedures of a resource: list, byId, create, update and remove, over tRPC and REST. */
export function crud<Shape extends z.ZodRawShape>(resource: {
  /** One of them, as in messages. */
  readonly name: string;
  readonly path: `/${string}`;
  readonly fields: z.ZodObject<Shape>;
  /** Of the web app alone, which uses tRPC. */
  readonly isPrivate?: boolean;
}) {
  const { name, path, fields, isPrivate = false } = resource;
  const enabled = !isPrivate;
  const tags = [path.slice(1)];
  const Row = fields.extend({ id: Id, createdAt: z.date() });
  // The types of the rows are those of the schema, which TypeScript knows only where the resource is defined.
  const table = new Table<object>(name);
  return router({
    list: procedure
      .meta({ openapi: { enabled, method: 'GET', path, tags, summary: `List of ${tags[0]}` } })
      .input(
        z.object({
          search: z.string().optional(),
          limit: z.number().int().min(1).max(100).default(20),
          after: z.number().int().optional(),
          createdSince: z.date().optional(),
          newestFirst: z.boolean().optional(),
        }),
      )
      .output(z.object({ items: z.array(Row), total: z.number() }))
      .query(({ input: { search, limit, after = 0, createdSince, newestFirst = false } }) => {
        const found = table
          .all()
          .filter((row) => search === undefined || JSON.stringify(row).includes(search))
          .filter(({ id }) => id > after)
          .filter(({ createdAt }) => createdSince === undefined || createdAt >= createdSince);
        if (newestFirst) found.reverse();
        return { items: found.slice(0, limit) as never[], total: found.length };
      }),
    byId: procedure
      .meta({ openapi: { enabled, method: 'GET', path: `${path}/{id}`, tags } })
      .input(z.object({ id: Id }))
      .output(Row)
      .query(({ input: { id } }) => table.get(id) as never),
    create: procedure
      .meta({ openapi: { enabled, method: 'POST', path, tags } })
      .input(fields)
      .output(Row)
      .mutation(({ input }) => table.add(input as object) as never),
    update: procedure
      .meta({ openapi: { enabled, method: 'PATCH', path: `${path}/{id}`, tags } })
      .input(fields.partial().extend({ id: Id }))
      .output(Row)
      .mutation(({ input }) => {
        const { id, ...changes } = input as { id: number };
        return table.change(id, changes) as never;
      }),
    remove: procedure
      .meta({
        openapi: { enabled, method: 'DELETE', path: `${path}/{id}`, tags, summary: `Removes one ${name}` },
      })
      .input(z.object({ id: Id }))
      .output(z.void())
      .mutation(({ input: { id } }) => table.remove(id)),
  });
}
