import { z } from 'zod';

// All that the generator reads of zod's internals (zod 4.6) is read here.

export type Schema = z.core.$ZodType;

/** What a schema was made of; `type` tells the kinds apart. */
export type Definition = z.core.$ZodTypes['_zod']['def'];

export function definitionOf(schema: Schema): Definition {
  return (schema as z.core.$ZodTypes)._zod.def;
}

/** `z.exactOptional()`, which has `z.optional()`'s definition: absent, but never `undefined`. */
export function isExactOptional(schema: Schema): boolean {
  return schema._zod.traits.has('$ZodExactOptional');
}

/** `z.preprocess()`, which has a pipe's definition. */
export function isPreprocess(schema: Schema): boolean {
  return schema._zod.traits.has('$ZodPreprocess');
}

/** The class that `z.instanceof()` was given. */
export function classOf(schema: Schema): { readonly name: string } | undefined {
  return (schema as z.core.$ZodCustom)._zod.bag.Class;
}

/** What `z.lazy()` stands for: the same schema each time, where the getter may make a new one. */
export function lazyTarget(schema: Schema): Schema {
  return (schema as z.core.$ZodLazy)._zod.innerType;
}

/** What `.meta()` and `.describe()` said of a schema. */
export interface SchemaMetadata {
  readonly id?: string | undefined;
  readonly description?: string | undefined;
  readonly deprecated?: boolean | undefined;
  /** The type as TypeScript writes it, for a schema whose type leaves no trace at run time. */
  readonly typescript?: string | undefined;
}

/** The metadata of a schema, of whatever copy of zod 4: they share one registry. */
export function metadataOf(schema: Schema): SchemaMetadata {
  const { typescript, ...metadata } = z.globalRegistry.get(schema) ?? {};
  return { ...metadata, typescript: typeof typescript === 'string' ? typescript : undefined };
}
