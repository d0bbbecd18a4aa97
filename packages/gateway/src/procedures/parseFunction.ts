import * as z from 'zod';
import { clone } from 'zod/v4/core';
// Not public, but without a public equivalent: tRPC's conversion of a parser of any library to a function.
import { getParseFn } from '@trpc/server/unstable-core-do-not-import';
import { internalsIn, isOwnVersion, isZod, type ZodInternals } from '../schemas/zodSchema.ts';

export type Parser = Parameters<typeof getParseFn>[0];
type Parse = (value: unknown) => unknown;

/**
 * Returns a function that parses as tRPC does. zod schemas are compiled (`z.compile`), with the same results and
 * errors: 20 animals take 0.5 µs instead of 5.6. If compiled code rejects a value, zod parses it again to find the
 * issues, so checks and `overwrite` may run twice. Schemas with transforms are not compiled, since a transform may have
 * side effects, nor those that compiled code parses otherwise (`isInexact`), nor those of another version of zod.
 *
 * A schema is compiled at the first call, since that takes 0.5 ms and a router may have a thousand schemas.
 * @param prepare returns the schema that is compiled
 */
export function parseFunction(parser: Parser, prepare = (schema: z.core.$ZodType) => schema): Parse {
  let parse: Parse | undefined;
  return (value) => {
    try {
      parse ??= isZod(parser) ? zodParseFunction(prepare(parser)) : getParseFn(parser);
    } catch (cause) {
      throw new PreparationError(cause);
    }
    return parse(value);
  };
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

function isCompiled(schema: z.core.$ZodType): boolean {
  for (const internals of internalsIn(schema)) if (!isOwnVersion(internals)) return false;
  return !hasTransform(schema) && !isInexact(schema);
}

/** Whether a schema, or one nested in it, calls a user-defined function that changes values. */
function hasTransform(schema: z.core.$ZodType): boolean {
  for (const { def } of internalsIn(schema)) {
    // A `lazy` may return another schema each time. A codec is a pipe with its own functions.
    if (def.type === 'lazy' || ('transform' in def && def.transform !== undefined)) return true;
  }
  return false;
}

/**
 * Whether compiled code may take another member of a union (zod 4.6.7): an intersection with a strict object, which accepts
 * the properties of the other side, rejects further ones if it is compiled.
 */
function isInexact(schema: z.core.$ZodType): boolean {
  let hasIntersection = false;
  let hasStrictObject = false;
  let hasUnion = false;
  for (const { def } of internalsIn(schema)) {
    hasIntersection ||= def.type === 'intersection';
    hasUnion ||= def.type === 'union';
    hasStrictObject ||= def.type === 'object' && def.catchall?._zod.def.type === 'never';
  }
  return hasIntersection && hasStrictObject && hasUnion;
}

// zod (4.6.7) finds every issue of an input at some 2 µs each: 500,000 wrong items in a body of 1 MB take a second, and
// several in a list of unions or of objects with many fields. It has no limit, and its `abortEarly` does not stop at
// failed checks, nor in records. So while a large input is parsed, the schemas that take part are wrapped: a list with
// too many issues is invalid, whatever its remaining items are, and these are skipped.

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
 * Returns a copy of a schema that stops to search for issues in a large input that is invalid. Valid inputs, and issues
 * within the limits, are the same as those of the schema.
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

/**
 * Replaces `run` of the schemas that take part in one parse.
 * @param most the number of issues above which it throws `tooManyIssues`
 */
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

/**
 * Returns the schemas that take part in a parse. None if one is an intersection, which accepts a key that is an issue of
 * one side and valid for the other.
 */
function limitedSchemas(root: z.core.$ZodType): readonly ZodInternals[] {
  const nodes = [...internalsIn(root)];
  return nodes.some(({ def }) => def.type === 'intersection') ? [] : nodes;
}
