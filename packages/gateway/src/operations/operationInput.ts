import type { z } from 'zod';
import { isZod } from '../procedures/isZod.ts';
import type { RestMeta } from '../procedures/meta.ts';
import { isStandardSchema, type StandardSchema } from '../procedures/standardSchema.ts';
import { bytesBody, operationBody, wholeInputBody, type OperationBody } from './operationBody.ts';
import {
  headerParameter,
  parameterMap,
  pathParameter,
  queryParameter,
  type ParameterMap,
  type TextParameter,
} from './parameter.ts';
import type { PathParameter, PathTemplate } from './pathTemplate.ts';
import { propertyPlaces, type PropertyPlace } from './propertyPlaces.ts';
import { noJsonSchema } from './readSchema.ts';
import { reject } from './unservableError.ts';
import { bytesKind } from './uploadInput.ts';
import { innermost, inputProperties, acceptsUndefined, type Shape } from './zodSchema.ts';

/** The places of a procedure's input in a request, derived once from the metadata and the schemas. */
export interface OperationInput {
  /**
   * Whether the whole input may be absent (`z.object(…).optional()`, `z.void()`). If a request sends no part of it, the
   * procedure receives `undefined`, as over tRPC.
   */
  readonly isOptional: boolean;
  /** The path parameters, in the template's order. */
  readonly path: readonly TextParameter[];
  readonly query: ParameterMap;
  /** The parameters in headers and cookies. */
  readonly headers: readonly TextParameter[];
  readonly body: OperationBody | undefined;
  /** All properties that the zod schemas of the input accept, whatever their place; those of the path last. */
  readonly shape: Shape;
  /** The input schemas of other libraries. */
  readonly otherSchemas: readonly StandardSchema[];
  /** The places that the metadata sets (`in`), except the body, by property; for error messages. */
  readonly places: ReadonlyMap<string, PropertyPlace>;
  /**
   * The schemas that convert dates if the input is a union of objects: a property may be a date in some members only.
   */
  readonly dateSchemas: readonly z.core.$ZodType[];
}

/**
 * Derives the places of an input.
 * @param inputs the schemas of the input, as `ReadSchema` returns them
 * @param parsers the procedure's own parsers
 * @throws {UnservableError} if the input cannot be sent over REST
 */
export function operationInput(
  inputs: readonly unknown[],
  rest: RestMeta,
  template: PathTemplate,
  parsers: readonly unknown[] = inputs,
): OperationInput {
  const schemas = inputs.filter(isZod);
  const properties = inputProperties(inputs);
  if (properties === undefined) return wholeInput(inputs, rest, template);
  const places = propertyPlaces(properties.shape, rest, template);
  const otherSchemas = parsers.filter((parser) => !isZod(parser)).filter(isStandardSchema);
  const zodProperties = otherSchemas.length === 0 ? undefined : inputProperties(parsers.filter(isZod));
  const placedProperties = [...places].map(([field, place]) => ({
    field,
    place,
    schema: properties.shape[field] as z.core.$ZodType,
  }));
  const at = (...wheres: readonly PropertyPlace['in'][]) =>
    placedProperties.filter(({ place }) => wheres.includes(place.in));

  const path = at('path').map(({ field, place, schema }) => {
    const isRest = template.some((segment) => isRestNamed(segment, place.name));
    return pathParameter(field, schema, place, { isRest, isUnion: properties.isUnion });
  });
  // A path parameter is always sent, so the input is never absent.
  const optional = path.length === 0 && schemas.every((schema) => acceptsUndefined(schema, 'input'));
  const shapeOf = (list: typeof placedProperties): Shape =>
    Object.fromEntries(list.map(({ field, schema }) => [field, schema]));
  const body = operationBody(shapeOf(at('body')), {
    rest,
    isInputOptional: optional,
    isUnion: properties.isUnion,
    otherFields: at('query', 'header', 'cookie').map(({ field }) => field),
  });
  return {
    isOptional: optional,
    path,
    query: parameterMap(
      at('query').map(({ field, schema, place }) => queryParameter(field, schema, place, rest)),
    ),
    headers: at('header', 'cookie').map(({ field, schema, place }) => headerParameter(field, schema, place)),
    body,
    shape: shapeOf(
      [...at('query', 'header', 'cookie', 'body'), ...at('path')].filter(
        ({ field }) => zodProperties === undefined || Object.hasOwn(zodProperties.shape, field),
      ),
    ),
    otherSchemas,
    places: new Map(
      [...places].filter(([field, place]) => Object.hasOwn(rest.in ?? {}, field) && place.in !== 'body'),
    ),
    dateSchemas: properties.isUnion && body ? schemas : [],
  };
}

const isRestNamed = (segment: string | PathParameter, name: string): boolean =>
  typeof segment !== 'string' && segment.isRest === true && segment.parameter === name;

/** Derives the places of an input without named properties: it is the whole body. */
function wholeInput(inputs: readonly unknown[], rest: RestMeta, template: PathTemplate): OperationInput {
  const schema = inputs.find((input) => !isZod(input)) ?? inputs[0];
  const names = template.filter((segment) => typeof segment !== 'string');
  const isBytes = bytesKind(schema) !== undefined;
  if (!isZod(schema) && !isBytes) {
    if (isStandardSchema(schema)) {
      reject(
        `its input is a schema of ${schema['~standard'].vendor}, ${noJsonSchema(schema['~standard'].vendor)}`,
      );
    }
    return reject(
      'its input is neither a zod schema nor a schema that provides a JSON Schema, so its parameters have no names; use z.object(…)',
    );
  }
  if (inputs.length > 1)
    reject('it has several inputs, but not all of them are objects; use z.object(…) for each');
  const hasNoBody = rest.method === 'GET' || rest.method === 'DELETE';
  if (hasNoBody || names.length > 0 || rest.in !== undefined) {
    const type = isZod(schema) ? (innermost(schema)?._zod.def.type ?? 'lazy') : 'bytes';
    const remedy = hasNoBody ? ', or a method with a body: QUERY or POST' : '';
    reject(
      `its input is of the type ${type}, which has no property names for parameters; use z.object(…)${remedy}`,
    );
  }
  const optional = isZod(schema) && acceptsUndefined(schema, 'input');
  return {
    isOptional: optional,
    path: [],
    query: parameterMap([]),
    headers: [],
    body:
      isZod(schema) && !isBytes
        ? wholeInputBody(schema, optional, rest)
        : bytesBody(schema, undefined, optional, rest),
    shape: {},
    otherSchemas: [],
    places: new Map(),
    dateSchemas: [],
  };
}
