import * as z from 'zod';
import { version } from 'zod/v4/core';
import { ignoreRejection } from '../http/hooks.ts';
import { isObject } from '../http/isObject.ts';
import { isThenable } from '../http/maybePromise.ts';

// Schemas come from the zod of the user: any version from 3.25 (`zod/v4`), and any copy, such as that of CommonJS. So they are
// known by what they carry (`_zod`), never by `instanceof`, and types of zod's own classes do not accept them.

/** A schema of zod 4, or of `zod/v4` of zod 3.25: of any version, in the classic form or that of `zod/mini`. */
export interface ZodSchema<Output = unknown, Input = unknown> {
  readonly _zod: {
    readonly output: Output;
    readonly input: Input;
    readonly def: { readonly type: string };
  };
}

export interface ZodObjectSchema extends ZodSchema<object> {
  readonly _zod: ZodSchema<object>['_zod'] & {
    readonly def: { readonly type: 'object'; readonly shape: Readonly<Record<string, ZodSchema>> };
  };
}

/** The definition of a schema, discriminated by `type`. */
export type ZodDefinition = z.core.$ZodTypes['_zod']['def'];

/** The internals of a schema. All casts into them are in this file. */
export interface ZodInternals extends Omit<z.core.$ZodTypeInternals, 'def' | 'run'> {
  readonly def: ZodDefinition;
  /** As a property: zod declares it as a method, but it does not use `this`. */
  run: (
    ...options: Parameters<z.core.$ZodTypeInternals['run']>
  ) => ReturnType<z.core.$ZodTypeInternals['run']>;
}

/** A check of a schema. A format, such as `z.email()`, is a check too. */
export interface ZodCheck extends z.core.$ZodCheck {
  readonly _zod: z.core.$ZodCheckInternals<never> & { readonly def: CheckDefinition };
}

type CheckDefinition = z.core.$ZodCheckDef & {
  readonly format?: string;
  readonly pattern?: RegExp;
  /** Where a text includes another one. */
  readonly position?: number;
  /** Whether a URL is sent on as `new URL` writes it. */
  readonly normalize?: boolean;
  /** What a check makes of a value. */
  readonly tx?: (value: string) => unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly length?: number;
};

export const internalsOf = (schema: ZodSchema): ZodInternals => schema._zod as ZodInternals;

export const definitionOf = (schema: ZodSchema): ZodDefinition => internalsOf(schema).def;

/** Returns the schema that a lazy one stands for. zod keeps it, since the getter may create a new one on each call. */
export const lazyTarget = (schema: ZodSchema): z.core.$ZodType => (schema as z.core.$ZodLazy)._zod.innerType;

/** Returns the class of `z.instanceof()`. `.meta()` drops it (zod 4.6). */
export const classOf = (schema: ZodSchema) =>
  internalsOf(schema).bag['Class'] as { readonly name: string; readonly prototype: unknown } | undefined;

/** Returns the checks of a schema. A format is its own first one. */
export function checksOf(internals: ZodInternals): readonly ZodCheck[] {
  const checks = (internals.def.checks ?? []) as unknown as readonly ZodCheck[];
  return internals.traits.has('$ZodCheck') ? [{ _zod: internals } as unknown as ZodCheck, ...checks] : checks;
}

/** Whether a schema is `z.preprocess()`, which has the definition of a pipe. */
export const isPreprocess = (def: ZodDefinition): boolean =>
  def.type === 'pipe' && def.in._zod.def.type === 'transform';

/** The version of the gateway's own zod: at least that of its dependency, unless a package manager was told otherwise. */
const own: Record<keyof typeof version, number> = version;

if (own.minor < 5 || (own.minor === 5 && own.patch < 4)) {
  const found = `${own.major}.${own.minor}.${own.patch}`;
  throw new Error(
    `trpc-gateway needs zod 4.5.4 or newer for itself, and found ${found}: probably by "overrides" or "resolutions" of your package.json. Limit them to your own packages; your schemas may be of any zod from 3.25.`,
  );
}

/** Whether a parser is a zod 4 schema, of any installed copy of zod. */
export function isZod(parser: unknown): parser is z.core.$ZodType {
  return typeof parser === 'object' && parser !== null && '_zod' in parser;
}

export const isZod3 = (parser: unknown): boolean =>
  isObject(parser) &&
  !isZod(parser) &&
  isObject(parser['_def']) &&
  String(parser['_def']['typeName']).startsWith('Zod');

/** Whether the gateway's zod is of a schema's version, so that compiled code parses as the schema does. */
export const isOwnVersion = ({ version: found = version }: Partial<z.core.$ZodTypeInternals>): boolean =>
  found.major === own.major && found.minor === own.minor && found.patch === own.patch;

/**
 * An asynchronous check counts as accepting. `~standard.validate` parses again and returns a promise if a function of
 * `z.preprocess()` throws, and `safeParse` creates an error for each rejected value.
 */
export function accepts(schema: ZodSchema, value: unknown): boolean {
  try {
    const payload = internalsOf(schema).run({ value, issues: [] }, { async: false });
    if (!(payload instanceof Promise)) return payload.issues.length === 0;
    ignoreRejection(payload);
    return true;
  } catch (cause) {
    // Of any copy of zod.
    return cause instanceof Error && cause.message.startsWith('Encountered Promise during synchronous parse');
  }
}

/** Not the global registry, which copies of zod share, and whose `add` throws for a taken id (zod 4.1). */
export const ownMetadata = z.registry<z.core.GlobalMeta>();

/** Returns the metadata of a schema. Each copy of zod before 4.1 has a registry of its own. */
export const metadataOf = (schema: ZodSchema): z.core.GlobalMeta => {
  const known = schema as z.core.$ZodType & { readonly meta?: () => z.core.GlobalMeta | undefined };
  return ownMetadata.get(known) ?? z.globalRegistry.get(known) ?? known.meta?.() ?? {};
};

/** Yields the internals of a schema, and of those nested in it. A schema may be recursive, through a getter. */
export function* internalsIn(root: z.core.$ZodType): Generator<ZodInternals> {
  const schemas = new Set([root]);
  for (const schema of schemas) {
    yield internalsOf(schema);
    for (const { part } of partsOf(schema)) if (isZod(part)) schemas.add(part);
  }
}

/** A part of a schema: a property of an object, an item, a member of a union, what a lazy schema stands for. */
export interface ZodPart {
  /** A schema of zod 4, unless the user has made a mistake. */
  readonly part: unknown;
  readonly name?: string;
}

/** Matches the members of a definition that are schemas, or lists of them. The default value is none, and a user's function. */
const partName = /^(?:element|in|innerType|input|items|keyType|left|options|out|output|right|valueType)$/;

export function partsOf(schema: ZodSchema): readonly ZodPart[] {
  const def = definitionOf(schema);
  if (def.type === 'lazy') return [{ part: lazyTarget(schema) }];
  if (def.type === 'template_literal') return def.parts.filter(isZod).map((part) => ({ part }));
  const optional = def.type === 'object' ? def.catchall : def.type === 'tuple' ? def.rest : undefined;
  const parts = Object.keys(def)
    .filter((name) => partName.test(name))
    .flatMap((name) => [Reflect.get(def, name) as unknown].flat())
    .concat(optional ?? [])
    .map((part) => ({ part }));
  const properties = def.type === 'object' ? Object.entries(def.shape) : [];
  return [...parts, ...properties.map(([name, part]) => ({ part, name }))];
}

/** `.trim()`, `.normalize()` and `.overwrite()` have no name, only results. `undefined` if no text. */
function resultOf(change: (text: string) => unknown, text: string): string | undefined {
  try {
    const result = change(text);
    if (isThenable(result)) ignoreRejection(result);
    return typeof result === 'string' ? result : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a check only removes white space around texts, as `.trim()` does. */
export const trims = (change: (text: string) => unknown): boolean =>
  ['', ' \t', ' a\u00A0', ` A  b.e\u0301\u00C5${' c'.repeat(999)}\n`].every(
    (text) => resultOf(change, text) === text.trim(),
  );

/** Normalizes if it composes the pair of the probe (`\u00E9`), or decomposes the letter, leaving an `a`. */
export const normalizes = (change: (text: string) => unknown): boolean =>
  /[a\u00E9]/i.test(resultOf(change, 'e\u0301\u00C5') ?? '');
