// How the resolvers of this process are written, from the environment (`BENCH_RESOLVERS`). Most routers have async resolvers
// behind a middleware, so contenders are measured in three styles.

export type MaybePromise<Value> = Value | Promise<Value>;

const style = process.env['BENCH_RESOLVERS'] ?? 'sync';

/** Whether resolvers and handlers are async functions that await the store. */
export const isAsync = style !== 'sync';

/** Whether an async middleware, or what a contender has in its place, adds a user to the context of each call. */
export const hasMiddleware = style === 'middleware';

export interface User {
  readonly name: string;
}

const user: User = { name: 'bench' };

/** The promise that the middleware awaits, one that is resolved already. */
export const findUser = async (): Promise<User> => user;

/** A resolver in the style of this process, without the middleware. */
export const resolver = <Input, Output>(
  resolve: (input: Input) => MaybePromise<Output>,
): ((input: Input) => MaybePromise<Output>) => (isAsync ? async (input) => await resolve(input) : resolve);

/** A resolver in the style of this process. Its middleware is an async function that it awaits. */
export const protectedResolver = <Input, Output>(
  resolve: (input: Input) => MaybePromise<Output>,
): ((input: Input) => MaybePromise<Output>) =>
  hasMiddleware
    ? async (input) => {
        await findUser();
        return await resolve(input);
      }
    : resolver(resolve);

/** Calls `use` with a value: at once, or when its promise is resolved. */
export const after = <Value, Result>(
  value: MaybePromise<Value>,
  use: (value: Value) => Result,
): MaybePromise<Result> => (value instanceof Promise ? value.then(use) : use(value));
