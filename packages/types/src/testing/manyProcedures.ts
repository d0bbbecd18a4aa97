import { initTRPC } from '@trpc/server';
import { z } from 'zod';

/** Creates a router with many typical procedures, five per resource. */
export function manyProcedures(count: number) {
  const t = initTRPC.create();
  const resource = (index: number) => {
    const id = z.int().meta({ description: 'Assigned by the service.' });
    const status = z.enum(['draft', 'active', 'archived']).meta({ id: `Status${index}` });
    const fields = {
      name: z.string().meta({ description: `The name of resource ${index}.` }),
      status: status.optional(),
      tags: z.array(z.string()).optional(),
      owner: z.object({ id: z.string(), email: z.email().nullable() }),
      createdAt: z.iso.datetime(),
    };
    const entity = z.object({ id, ...fields }).meta({ id: `Entity${index}`, description: 'A resource.' });
    const changes = z.object(fields).partial();
    const filter = z.object({ status: status.optional(), limit: z.int().default(20), cursor: id.optional() });
    const never = (): never => {
      throw new Error('This router is for its types alone.');
    };
    return {
      [`list${index}`]: t.procedure.input(filter.prefault({})).output(z.array(entity)).query(never),
      [`get${index}`]: t.procedure.input(z.object({ id })).output(entity).query(never),
      [`create${index}`]: t.procedure.input(z.object(fields)).output(entity).mutation(never),
      [`update${index}`]: t.procedure.input(z.object({ id, changes })).output(entity).mutation(never),
      [`remove${index}`]: t.procedure.input(z.object({ id })).output(z.void()).mutation(never),
    };
  };
  return t.router(Object.assign({}, ...Array.from({ length: count / 5 }, (_, index) => resource(index))));
}
