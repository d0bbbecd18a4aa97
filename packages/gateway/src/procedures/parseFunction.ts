import * as z from 'zod';
import { clone } from 'zod/v4/core';
// Not public, but without a public equivalent: tRPC's conversion of a parser of any library to a function.
import { getParseFn } from '@trpc/server/unstable-core-do-not-import';
import { internalsIn, isOwnVersion, isZod, type ZodInternals } from '../schemas/zodSchema.ts';

export type Parser = Parameters<typeof getParseFn>[0];
type Parse = (value: unknown) => unknown;

/**
 * Returns a function that parses as tRPC does. zod schemas are compiled (`z.compile`), which takes 0.5 ms, so not before the
 * first call, with the same results: 20 animals take 0.5 µs instead of 5.6. A value that compiled code rejects is parsed
 * again to find the issues, so checks and `overwrite` may run twice. Not compiled: transforms, since they may have side
 * effects, what compiled code parses otherwise, and schemas of another version of zod.
 * @param prepare returns the schema that is compiled
 * @throws {PreparationError}
 */
export function parseFunction(parser: Parser, prepare = (schema: z.core.$ZodType) => schema): Parse {
  try {
    return isZod(parser) ? zodParseFunction(prepare(parser)) : getParseFn(parser);
  } catch (cause) {
    throw new PreparationError(cause);
  }
}

/** Thrown if a schema cannot be prepared, which is no error of the client, whose input has not been parsed. */
export class PreparationError extends Error {
  override readonly name = 'PreparationError';
  constructor(cause: unknown) {
    super('The schema cannot be prepared for parsing.', { cause });
  }
}

function zodParseFunction(schema: z.core.$ZodType): Parse {
  if (!isCompiled(schema)) return getParseFn(boundedSchema(schema, () => false) as Parser);
  // The copy is only used if the compiled code has rejected the input, which is a proof unless it calls user code.
  const compiled: z.core.$ZodType = z.compile(boundedSchema(schema, () => isDefinite));
  const isDefinite =
    (compiled._zod.bag['validator'] as { definite?: boolean } | undefined)?.definite === true;
  return getParseFn(compiled as Parser);
}

/** Whether compiled code parses as a schema does, and the schema calls no user-defined function that changes values. */
function isCompiled(schema: z.core.$ZodType): boolean {
  const parts = [...internalsIn(schema)];
  const definitions = parts.map(({ def }) => def);
  const types = new Set(definitions.map(({ type }) => type));
  // A `lazy` may return another schema each time. A codec is a pipe with its own functions.
  const isPure =
    !types.has('lazy') && definitions.every((def) => !('transform' in def) || def.transform === undefined);
  const hasStrict = definitions.some(
    (def) => def.type === 'object' && def.catchall?._zod.def.type === 'never',
  );
  // Compiled (zod 4.6.7), an intersection with a strict object rejects more: a union may take another member.
  const isExact = !(types.has('intersection') && types.has('union') && hasStrict);
  return isPure && isExact && parts.every(isOwnVersion);
}

// zod (4.6.7) finds each issue at 2 µs: 500,000 wrong items in 1 MB take a second, and several in a list of unions or
// large objects. Its `abortEarly` does not stop at failed checks, nor in records. So for a large input, schemas are
// wrapped: a list with too many issues is invalid, and its remaining items are skipped.

/** Number of issues of a list, record or tuple above which its remaining items are skipped. */
const maxIssuesOfContainer = 1000;

/** Number of issues of a whole input, with those inside unions, above which one issue of a container suffices. */
const maxIssuesOfInput = 10_000;

/** Number of issues of an input that is known to be invalid above which nothing else is checked. */
const maxIssuesOfInvalidInput = 50_000;

/** Number of values in an input above which it is large. With fewer, a schema must be huge to be slow. */
const largeInput = 200;

type Issues = Parameters<ZodInternals['run']>[0]['issues'];

/**
 * A copy that stops searching a large invalid input for issues; valid inputs, and issues within the limits, are the same.
 * @param isInvalid whether an input that the copy parses is known to be invalid
 */
export function boundedSchema<Schema extends z.core.$ZodType>(
  schema: Schema,
  isInvalid: () => boolean,
): Schema {
  const copy = clone(schema);
  let nodes: readonly ZodInternals[] | undefined;
  copy._zod.run = (payload, context) => {
    if (!isLarge(payload.value)) return schema._zod.run(payload, context);
    nodes ??= limitedSchemas(schema);
    const runs = nodes.map(({ run }) => run);
    limitIssues(nodes, isInvalid() ? maxIssuesOfInvalidInput : Infinity);
    try {
      // An asynchronous parse has started with all items when this returns.
      return schema._zod.run(payload, context);
    } catch (error) {
      if (error !== tooManyIssues) throw error;
      return addSkipped(payload);
    } finally {
      for (const [index, node] of nodes.entries()) node.run = runs[index] as ZodInternals['run'];
    }
  };
  return copy;
}

/** Replaces `run` of the schemas of one parse, which throws `tooManyIssues` above `most`. */
function limitIssues(nodes: readonly ZodInternals[], most: number): void {
  const none: Issues = [];
  /** The issues of the container whose item is parsed next; `none` inside an item. */
  let container = none;
  let count = 0;
  for (const node of nodes) {
    const { def, run } = node;
    const isContainer = containers.has(def.type) || (def.type === 'object' && def.catchall !== undefined);
    node.run = (payload, context) => {
      const outer = container;
      const isOver = count > maxIssuesOfInput;
      if (outer.length > (isOver ? 0 : maxIssuesOfContainer)) {
        if (outer.at(-1)?.message !== skipped) addSkipped({ issues: outer });
        return payload;
      }
      if (count > most) throw tooManyIssues;
      // One issue of each option of a union suffices too, and one of an object.
      if (isOver) Object.assign(context, { abortEarly: true });
      container = isContainer ? payload.issues : none;
      const result = run(payload, context);
      container = outer;
      if (!(result instanceof Promise)) count += result.issues.length;
      return result;
    };
  }
}

const containers: ReadonlySet<string> = new Set(['array', 'record', 'tuple', 'map', 'set']);

const tooManyIssues = new Error('Too many issues');

const skipped = 'Too many issues: further items were not checked.';

/** Adds an issue without `continue`: zod then calls no refinement with the skipped items. */
function addSkipped<Payload extends { readonly issues: Issues }>(payload: Payload): Payload {
  payload.issues.push({ code: 'custom', message: skipped, input: undefined });
  return payload;
}

/** Whether an input has many values. It stops to count there. */
function isLarge(value: unknown): boolean {
  const values = [value];
  for (const next of values) {
    if (typeof next !== 'object' || next === null) continue;
    // A transformer of tRPC creates maps and sets. The members of a map are pairs.
    const isIterable = Array.isArray(next) || next instanceof Map || next instanceof Set;
    for (const member of isIterable ? (next as Iterable<unknown>) : Object.values(next)) {
      if (values.push(member) > largeInput) return true;
    }
  }
  return false;
}

/** None if one is an intersection: it accepts a key that is an issue of one side and valid for the other. */
function limitedSchemas(root: z.core.$ZodType): readonly ZodInternals[] {
  const nodes = [...internalsIn(root)];
  return nodes.some(({ def }) => def.type === 'intersection') ? [] : nodes;
}
