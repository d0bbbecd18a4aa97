// Hot path: every output without a schema is searched for promises and async iterables.
import { ignoreRejection } from './hooks.ts';
import { isContainer } from './isObject.ts';
import { discardStream, isAsyncIterable } from './response.ts';

export type AsyncValue = Promise<unknown> | AsyncIterable<unknown>;

export const isAsync = (value: unknown): value is AsyncValue => isPromise(value) || isAsyncIterable(value);

/** Whether a value is a promise, by the rule of tRPC. */
export const isPromise = (value: unknown): value is Promise<unknown> =>
  // `then` first, which nearly no value has.
  typeof (value as { readonly then?: unknown } | null | undefined)?.then === 'function' &&
  typeof (value as { readonly catch?: unknown }).catch === 'function';

/**
 * Whether tRPC sends a value as a stream: an async iterable, or an object with a member that is one or a promise. Hot
 * path: `Object.keys`, since a list of values costs more.
 */
export function isStreamLike(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  if (Symbol.asyncIterator in value) return true;
  for (const key of Object.keys(value)) {
    const member = (value as Readonly<Record<string, unknown>>)[key];
    // Nearly all members are of these types.
    if (typeof member === 'string' || typeof member === 'number' || Array.isArray(member)) continue;
    if (isAsync(member)) return true;
  }
  return false;
}

/** Ends an async iterable that is not read, and ignores the rejection of a promise. */
export function discardAsync(value: AsyncValue): void {
  // First, since a query of Mongoose is both, and its iterator would start it.
  if (isPromise(value)) ignoreError(value);
  else void discardStream(value);
}

/**
 * Ends the async iterables in an output that nothing reads, since JSON does not have them, and ignores the rejections of
 * its promises, which would end the process. It never throws.
 */
export const discardOutput = (output: unknown): void => visitAsync(output, discardAsync);

/** Ignores the rejections of promises in an output that is not sent yet, since they may reject before. It never throws. */
export const ignoreRejections = (output: unknown): void => visitAsync(output, ignoreError);

/** Discards the result of an iterator that nothing waits for any more. */
export const discardNext = (next: Promise<IteratorResult<unknown>>): void =>
  void next.then(
    (result) => discardOutput(result?.value),
    () => {},
  );

function ignoreError(value: AsyncValue): void {
  // Other promises, such as a query of Prisma or Knex, start their work when they are awaited, and reject only then.
  if (value instanceof Promise) ignoreRejection(value);
}

/** Levels of an output that are searched: `{ items: [{ owner: promise }] }` has its promise at the third one. */
const maxLevels = 3;

function visitAsync(output: unknown, visit: (value: AsyncValue) => void): void {
  try {
    if (typeof output !== 'object' || output === null) return;
    if (isAsync(output)) return visit(output);
    // An instance of a class may be an output, but not bytes, which have a member for each byte.
    if (ArrayBuffer.isView(output) || typeof (output as { toJSON?: unknown }).toJSON === 'function') return;
    visitMembers(output, visit, maxLevels);
  } catch {
    // A getter or a proxy throws: encoding the output fails too.
  }
}

function visitMembers(parent: object, visit: (value: AsyncValue) => void, levels: number): void {
  // Keys, since a list of values costs more.
  for (const key of Object.keys(parent)) {
    const member = (parent as Readonly<Record<string, unknown>>)[key];
    if (typeof member !== 'object' || member === null) continue;
    if (isAsync(member)) visit(member);
    // Not the members of an instance, such as the socket of a stream.
    else if (levels > 1 && isContainer(member)) visitMembers(member, visit, levels - 1);
  }
}
