import * as z from 'zod';
import { version } from 'zod/v4/core';
import { isObject } from '../http/isObject.ts';

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

/** A schema of an object. */
export interface ZodObjectSchema extends ZodSchema<object> {
  readonly _zod: ZodSchema<object>['_zod'] & {
    readonly def: { readonly type: 'object'; readonly shape: Readonly<Record<string, ZodSchema>> };
  };
}

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

/** Whether a parser is a schema of zod 3. */
export const isZod3 = (parser: unknown): boolean =>
  isObject(parser) &&
  !isZod(parser) &&
  isObject(parser['_def']) &&
  String(parser['_def']['typeName']).startsWith('Zod');

/**
 * Whether the gateway's own zod is of the version that a schema is of, and so compiles it as the schema itself parses. Checks,
 * which have no version, are as their schema.
 */
export const isOwnVersion = ({ version: found = version }: Partial<z.core.$ZodTypeInternals>): boolean =>
  found.major === own.major && found.minor === own.minor && found.patch === own.patch;

/** Whether a schema of any copy of zod has thrown this, as it met a promise in a synchronous parse. */
export const isAsyncError = (cause: unknown): boolean =>
  cause instanceof Error && cause.message.startsWith('Encountered Promise during synchronous parse');

/**
 * The metadata of schemas of the gateway itself. Their ids are not in the global registry, which the copies of zod in a
 * process share, and whose `add` throws for an id that another schema has (zod 4.1).
 */
export const ownMetadata = z.registry<z.core.GlobalMeta>();

/** Returns the metadata of a schema. Each copy of zod before 4.1 has a registry of its own. */
export const metadataOf = (schema: ZodSchema): z.core.GlobalMeta => {
  const known = schema as z.core.$ZodType & { readonly meta?: () => z.core.GlobalMeta | undefined };
  return ownMetadata.get(known) ?? z.globalRegistry.get(known) ?? known.meta?.() ?? {};
};
