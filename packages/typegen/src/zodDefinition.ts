import { metadataOf as readMetadata } from 'trpc-gateway/internal/schemas';
import type { z } from 'zod';

// All access to zod's internals (zod 4.6).

export type ZodSchema = z.core.$ZodType;

/** The definition of a schema, discriminated by `type`. */
export type ZodDefinition = z.core.$ZodTypes['_zod']['def'];

export function zodDefinitionOf(schema: ZodSchema): ZodDefinition {
  return (schema as z.core.$ZodTypes)._zod.def;
}

/** Returns true for `z.exactOptional()`, which has the definition of `z.optional()` but rejects `undefined`. */
export function isExactOptional(schema: ZodSchema): boolean {
  return schema._zod.traits.has('$ZodExactOptional');
}

/** Returns true for `z.preprocess()`, which has the definition of a pipe. */
export function isPreprocess(schema: ZodSchema): boolean {
  return schema._zod.traits.has('$ZodPreprocess');
}

/** Returns the class of `z.instanceof()`. */
export function classOf(schema: ZodSchema): { readonly name: string } | undefined {
  return (schema as z.core.$ZodCustom)._zod.bag.Class;
}

/** Returns the schema of `z.lazy()`, cached by zod: the getter may create a new schema on each call. */
export function lazyTarget(schema: ZodSchema): ZodSchema {
  return (schema as z.core.$ZodLazy)._zod.innerType;
}

/** The metadata of a schema from `.meta()` and `.describe()`. */
export interface SchemaMetadata {
  readonly id?: string | undefined;
  readonly description?: string | undefined;
  readonly deprecated?: boolean | undefined;
  /** The TypeScript source of the type, for a schema with a type that is not known at run time. */
  readonly typescript?: string | undefined;
}

/** Returns the metadata of a schema. */
export function metadataOf(schema: ZodSchema): SchemaMetadata {
  const { typescript, ...metadata } = readMetadata(schema);
  return { ...metadata, typescript: typeof typescript === 'string' ? typescript : undefined };
}
