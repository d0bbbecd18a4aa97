import { isAsync, isPromise } from '../http/asyncValues.ts';
import { tryHook } from '../http/hooks.ts';
import { isContainer } from '../http/isObject.ts';
import { warn } from '../http/warnings.ts';
import { Failure } from '../procedures/execute.ts';
import type { Procedure } from '../procedures/procedure.ts';

/** The outputs of a procedure that are searched: also in production, `isDev` is tRPC's default without `NODE_ENV`. */
const searchedOutputs = 1000;

/**
 * Returns a function that writes a line about the first value in the outputs of a procedure that JSON does not have: REST and
 * tools send `{}` or nothing, without an error; that of a bigint does not say where it is. Procedures of tRPC alone may have a transformer.
 */
export function createOutputReport(): (procedure: Procedure, outcome: unknown) => void {
  const left = new Map<string, number>();
  return ({ mcp, path, rest, type }, outcome) => {
    const count = left.get(path) ?? searchedOutputs;
    if ((!rest && !mcp) || rest?.produces !== undefined || type === 'subscription' || count === 0) return;
    const [found, at = ''] = isContent(outcome) ? [] : (tryHook(findNoJson, outcome) ?? []);
    left.set(path, found === undefined ? count - 1 : 0);
    if (found === undefined) return;
    warn(
      `procedure "${path}" has returned ${found}${at && ` at "${at.slice(1)}"`}, which JSON does not have: REST and tools send {}, leave it out, or answer 500 (bigint). Return an array, a plain object or a text, await promises, or give the class a method toJSON.`,
    );
  };
}

/** Whether an outcome is not JSON: content of a tool, or an error. */
const isContent = (outcome: unknown): boolean =>
  [outcome]
    .flat()
    .some((each) => each instanceof Blob || each instanceof Uint8Array || each instanceof Failure);

/** Returns what the first value is that JSON does not have, and its path. @throws what a getter throws */
function findNoJson(
  value: unknown,
  path = '',
  parents: readonly unknown[] = [],
): readonly [found: string, path: string] | undefined {
  if (typeof (value as { toJSON?: unknown } | null | undefined)?.toJSON === 'function') return undefined;
  if (typeof value === 'function' || typeof value === 'bigint') return [`a ${typeof value}`, path];
  if (typeof value !== 'object' || value === null) return undefined;
  if (isAsync(value)) return [isPromise(value) ? 'a promise' : 'an async iterable', path];
  // A circle is an error of `JSON.stringify`.
  if (parents.includes(value)) return undefined;
  const entries = ArrayBuffer.isView(value) ? [] : Object.entries(value);
  // An instance of a class with properties of its own is sent as an object of these.
  const { constructor: type } = value as { readonly constructor?: { readonly name?: string } };
  if (!isContainer(value) && entries.length === 0 && type?.name !== undefined) {
    return [`an instance of ${type.name}`, path];
  }
  const within = [...parents, value];
  for (const [name, member] of entries) {
    const found = findNoJson(member, `${path}.${name}`, within);
    if (found) return found;
  }
  return undefined;
}
