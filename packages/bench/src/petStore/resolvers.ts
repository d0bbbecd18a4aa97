// How the resolvers of this process are written, from the environment (`BENCH_RESOLVERS`). Most routers have async resolvers
// behind a middleware, so every contender is measured in each of the three styles.

export type MaybePromise<Value> = Value | Promise<Value>;

const style = process.env['BENCH_RESOLVERS'] ?? 'sync';

/** Whether resolvers and handlers are async functions that await the store. */
const isAsync = style !== 'sync';

/** Whether an async middleware, or whatever a contender has in its place, adds a user to the context of each call. */
const hasMiddleware = style === 'middleware';

const user = { name: 'bench' };

/** What the middleware waits for: one promise that is resolved already. */
const findUser = async (): Promise<typeof user> => user;

/** A resolver of a server that is written by hand, in the style of this process. */
export function resolver<Input, Output>(
  resolve: (input: Input) => MaybePromise<Output>,
): (input: Input) => MaybePromise<Output> {
  if (hasMiddleware) {
    return async (input) => {
      await findUser();
      return await resolve(input);
    };
  }
  return isAsync ? async (input) => await resolve(input) : resolve;
}

/** Calls `use` with a value: at once, or when its promise is resolved. */
export const after = <Value, Result>(
  value: MaybePromise<Value>,
  use: (value: Value) => Result,
): MaybePromise<Result> => (value instanceof Promise ? value.then(use) : use(value));
