// zod (4.6.7) finds every issue of an input at some 2 µs each: 500,000 wrong items in a body of 1 MB take a second, and
// several in a list of unions or of objects with many fields. It has no limit, and its `abortEarly` stops at the first
// issue. So while a large input is parsed, the schemas that take part are wrapped: a list with too many issues is
// invalid, whatever its remaining items are, and these are skipped.
import type { z } from 'zod';
// Not `z.core`, which would keep all locales of zod in a bundle (4 MB of memory).
import { clone } from 'zod/v4/core';
import { isZod } from './standardSchema.ts';

/** Number of issues of a list, record or tuple above which its remaining items are skipped. */
const maxIssuesOfContainer = 1000;

/** Number of issues of a whole input, with those inside unions, above which one issue of a container suffices. */
const maxIssuesOfInput = 10_000;

/** Number of values in an input above which it is large. With fewer, a schema must be huge to be slow. */
const largeInput = 200;

/** Number of issues of an input that is known to be invalid above which nothing else is checked. */
const maxIssuesOfInvalidInput = 50_000;

type ZodInternals = z.core.$ZodTypeInternals;
type Issues = Parameters<ZodInternals['run']>[0]['issues'];
/** `run` as a property: zod declares it as a method, but it does not use `this`. */
interface Internals extends Omit<ZodInternals, 'run'> {
  run: ParseRun;
}
type ParseRun = (...options: Parameters<ZodInternals['run']>) => ReturnType<ZodInternals['run']>;

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
  let nodes: readonly Internals[] | undefined;
  copy._zod.run = (payload, context) => {
    if (!hasMoreValues(payload.value, largeInput)) return schema._zod.run(payload, context);
    nodes ??= internalsOf(schema);
    const runs = nodes.map(({ run }) => run);
    const limit = new IssueLimit(isInvalid());
    for (const node of nodes) node.run = limit.wrap(node);
    try {
      const result = schema._zod.run(payload, context);
      if (limit.hasStopped && !(result instanceof Promise)) result.issues.push({ ...skippedIssue });
      // An asynchronous parse has started with all items by now.
      return result;
    } finally {
      for (const [index, node] of nodes.entries()) node.run = runs[index] as ParseRun;
    }
  };
  return copy;
}

/** Limits the issues of one parse. */
class IssueLimit {
  /** Whether items outside of an invalid container were skipped too. */
  hasStopped = false;
  readonly #isInvalid: boolean;
  /** The issues of the container whose item is parsed next; `none` inside an item. */
  #container: Issues = none;
  #count = 0;

  constructor(isInvalid: boolean) {
    this.#isInvalid = isInvalid;
  }

  wrap({ def, run }: Internals): ParseRun {
    const isContainer =
      containers.has(def.type) || (def as { readonly catchall?: unknown }).catchall !== undefined;
    return (payload, context) => {
      const container = this.#container;
      const isOver = this.#count > maxIssuesOfInput;
      if (container.length > (isOver ? 0 : maxIssuesOfContainer)) {
        // An issue without `continue`: zod then calls no refinement with the skipped items.
        if (container.at(-1)?.message !== skipped) container.push({ ...skippedIssue });
        return payload;
      }
      if (this.#count > maxIssuesOfInvalidInput && this.#isInvalid) {
        this.hasStopped = true;
        return payload;
      }
      this.#container = isContainer ? payload.issues : none;
      const result = run(payload, context);
      this.#container = container;
      if (!(result instanceof Promise)) this.#count += result.issues.length;
      return result;
    };
  }
}

const none: Issues = [];

const containers: ReadonlySet<string> = new Set(['array', 'record', 'tuple', 'map', 'set']);

const skipped = 'Too many issues: further items were not checked.';
const skippedIssue = { code: 'custom', message: skipped, input: undefined } as const;

/** Whether an input has more than `most` values. It stops to count there. */
function hasMoreValues(value: unknown, most: number): boolean {
  const waiting = [value];
  let count = 1;
  for (const next of waiting) {
    if (typeof next !== 'object' || next === null) continue;
    // A transformer of tRPC creates maps and sets. The members of a map are pairs.
    const size = Array.isArray(next)
      ? next.length
      : next instanceof Map || next instanceof Set
        ? next.size
        : undefined;
    if (size !== undefined) {
      count += size;
      if (count > most) return true;
      waiting.push(...(next as Iterable<unknown>));
    } else {
      for (const name in next) {
        count += 1;
        if (count > most) return true;
        waiting.push((next as Readonly<Record<string, unknown>>)[name]);
      }
    }
  }
  return false;
}

/**
 * Returns the schemas that take part in a parse. None if one is an intersection, which accepts a key that is an issue of
 * one side and valid for the other.
 */
function internalsOf(root: z.core.$ZodType): readonly Internals[] {
  const schemas = new Set<z.core.$ZodType>([root]);
  for (const schema of schemas) {
    const { def, innerType } = schema._zod as Internals & { readonly innerType?: z.core.$ZodType };
    if (def.type === 'intersection') return [];
    for (const nested of nestedSchemas(def)) schemas.add(nested);
    if (def.type === 'lazy' && innerType) schemas.add(innerType);
  }
  return [...schemas].map(({ _zod }) => _zod);
}

/**
 * Lists the schemas in the definition of another one. Getters are not read: the default value is a getter that calls a
 * user-defined function.
 */
export function nestedSchemas(definition: z.core.$ZodTypeDef): readonly z.core.$ZodType[] {
  const def = definition as z.core.$ZodTypes['_zod']['def'];
  if (def.type === 'object') return [...Object.values(def.shape), def.catchall].filter(isZod);
  const properties: readonly PropertyDescriptor[] = Object.values(Object.getOwnPropertyDescriptors(def));
  return properties.flatMap(({ value }) => value as unknown).filter(isZod);
}
