import { isZod } from '../procedures/isZod.ts';
import {
  isStandardSchema,
  type JsonSchemaConverters,
  type StandardSchema,
} from '../procedures/standardSchema.ts';
import { libraryJsonSchema } from './libraryJsonSchema.ts';
import { zodOfJsonSchema } from './zodOfJsonSchema.ts';
import type { z } from 'zod';

/**
 * Returns the zod schema with which the gateway converts and documents the values of a parser. A zod schema is returned
 * unchanged. The JSON Schema of another Standard Schema library is converted to zod. Any other parser is returned
 * unchanged.
 */
export type ReadSchema = (parser: unknown, side: 'input' | 'output', what: string) => unknown;

/** @param warn receives a sentence for each part that a library cannot describe */
export function createReadSchema(
  converters: JsonSchemaConverters,
  warn: (sentence: string) => void,
): ReadSchema {
  return (parser, side, what) => {
    if (isZod(parser) || !isStandardSchema(parser)) return parser;
    const { vendor } = parser['~standard'];
    const libraryJson = libraryJsonSchema(parser, side, converters);
    if (libraryJson === undefined) {
      if (side === 'output') warn(`its ${what} is a schema of ${vendor}, ${noJsonSchema(vendor)}.`);
      return parser;
    }
    if (libraryJson.problems.length > 0) {
      warn(
        `${vendor} cannot describe all of its ${what} as JSON Schema, so the document is incomplete: ${libraryJson.problems.join(' ')}`,
      );
    }
    return libraryJson.json === undefined
      ? parser
      : withOptional(zodOfJsonSchema(libraryJson.json), parser, side);
  };
}

/** Returns the end of an error message: why a schema of another library cannot be read, and the fix. */
export const noJsonSchema = (vendor: string): string =>
  `which provides no JSON Schema; pass createGateway a converter of that library, jsonSchema: { ${vendor}: … }`;

/** Makes a schema optional if the parser accepts `undefined`: JSON Schema cannot express that for a whole value. */
function withOptional(schema: z.ZodType, parser: StandardSchema, side: 'input' | 'output'): z.ZodType {
  if (schema.def.type === 'void' || schema.def.type === 'optional') return schema;
  let result: ReturnType<(typeof parser)['~standard']['validate']>;
  try {
    result = parser['~standard'].validate(undefined);
  } catch {
    return schema;
  }
  if (result instanceof Promise) {
    result.catch(() => undefined);
    return schema;
  }
  const takesNothing = result.issues === undefined && (side === 'input' || result.value === undefined);
  return takesNothing ? schema.optional() : schema;
}
