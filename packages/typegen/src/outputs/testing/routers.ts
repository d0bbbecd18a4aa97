// Routers whose types `describeOutputs.test.ts` reads. None of them runs.
import { type AnyQueryProcedure, type AnyRouter, initTRPC, lazy, tracked } from '@trpc/server';
import { observable } from '@trpc/server/observable';

const t = initTRPC.create();

const unknown: unknown = null;

class Itself {
  toJSON() {
    return this;
  }
}

/** An animal. */
interface Pet {
  id: number;
  /**
   * As its owner calls it.
   * @example Rex
   */
  name: string;
}
interface Page<Item> {
  items: Item[];
}

export const namedRouter = t.router({
  pet: t.procedure.query((): Pet => ({ id: 1, name: 'Rex' })),
  page: t.procedure.query((): Page<Pet> => ({ items: [] })),
});

export const openRouter = t.router({
  any: t.procedure.query(() => JSON.parse('1')),
  // @ts-expect-error -- such as one of a package that is not installed
  missing: t.procedure.query((): Missing => null),
  unknown: t.procedure.query(() => ({ list: [unknown] })),
  union: t.procedure.query((): { at: 1; rest: unknown } | { at: 2; rest: unknown } => ({ at: 1, rest: 1 })),
  iterable: t.procedure.query((): Iterable<string> => ['a']),
  set: t.procedure.query(() => ({ all: new Set<string>() as ReadonlySet<string> })),
  empty: t.procedure.query((): { value: {} } => ({ value: 'a' })),
  itself: t.procedure.query(() => new Itself()),
  bigint: t.procedure.query(() => ({ size: 1n })),
  map: t.procedure.query(() => ({ byName: new Map<string, Date>() })),
  bytes: t.procedure.query(() => new Uint8Array(1)),
  error: t.procedure.query(() => new NotFoundError()),
  object: t.procedure.query((): object => ({})),
  endless: t.procedure.query((): Endless<string> => ({})),
});
class NotFoundError extends Error {
  readonly status = 404;
}
interface Endless<Value> {
  next?: Endless<Value[]>;
}

/** Has names that are also keywords of JSON Schema. */
export const keywordRouter = t.router({
  description: t.procedure.query(() => ({ description: 'a' })),
  not: t.procedure.query(() => ({ not: { properties: { type: 'object' } } })),
  absent: t.procedure.query(() => ({ a: undefined })),
});
export const descriptionRouter = t.router({
  description: t.procedure.query((): Page<Pet> => ({ items: [] })),
});

export const eventRouter = t.router({
  plain: t.procedure.subscription(async function* () {
    yield 1;
  }),
  mixed: t.procedure.subscription(async function* () {
    yield tracked('1', 'one');
    yield 2;
  }),
  tracked: t.procedure.subscription(async function* () {
    yield tracked('1', { id: 1 });
  }),
  observable: t.procedure.subscription(() => observable<string>(() => {})),
});

export const lazyRouter = t.router({
  later: lazy(async () => namedRouter),
  merged: t.mergeRouters(namedRouter, t.router({ one: t.procedure.query(() => 1 as const) })),
});

export const unreadRouter = t.router({
  // @ts-expect-error -- such as a router of a module that is not generated yet
  missing: {} as MissingRouter,
  any: JSON.parse('{}'),
  inner: t.router({ named: namedRouter._def.record as Record<string, AnyQueryProcedure> }),
});
export const looseRouter = namedRouter as AnyRouter;

export const createRouter = () => t.router({ one: t.procedure.query(() => 1 as const) });
export type MadeRouter = ReturnType<typeof createRouter>;
