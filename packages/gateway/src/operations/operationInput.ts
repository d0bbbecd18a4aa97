import { reject } from '../http/gatewayError.ts';
import type { RestMeta } from '../procedures/meta.ts';
import { isStandardSchema, type StandardSchema } from '../procedures/standardSchema.ts';
import { hasDate } from './inspectJson.ts';
import { noJsonSchema } from './libraryJsonSchema.ts';
import {
  bytesBody,
  bytesKind,
  isJson,
  operationBody,
  wholeInputBody,
  type OperationBody,
} from './operationBody.ts';
import {
  headerParameter,
  parameterMap,
  pathParameter,
  queryParameter,
  type ParameterMap,
  type TextParameter,
} from './parameter.ts';
import type { PathTemplate } from './pathTemplate.ts';
import { propertyPlaces, type PropertyPlace } from './propertyPlaces.ts';
import {
  acceptsUndefined,
  innermost,
  inputProperties,
  typeOf,
  type Properties,
  type Schema,
  type Shape,
} from './schema.ts';

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
  /** Whether the input is a union of objects. */
  readonly isUnion: boolean;
  /** The procedure's own schemas, of any library. */
  readonly parsers: readonly StandardSchema[];
  /** The places that the metadata sets (`in`), except the body, by property; for error messages. */
  readonly places: ReadonlyMap<string, PropertyPlace>;
  /** The schemas of a JSON body that contain dates, which JSON represents as strings. */
  readonly dateSchemas: readonly Schema[];
}

/**
 * Derives the places of an input.
 * @param inputs the schemas of the input, as `ReadSchema` returns them
 * @param parsers the procedure's own parsers
 * @throws {GatewayError} if the input cannot be sent over REST
 */
export function operationInput(
  inputs: readonly (Schema | undefined)[],
  rest: RestMeta,
  template: PathTemplate,
  parsers: readonly unknown[],
): OperationInput {
  const named = inputProperties(inputs);
  if (named === undefined) rejectUnnamed(inputs, rest, template, parsers);
  const { shape, isUnion }: Properties = named ?? { shape: {}, isUnion: false };
  const places = propertyPlaces(shape, rest, template);
  const properties = [...places].map(([field, place]) => ({ field, place, schema: shape[field] as Schema }));
  const at = (...wheres: readonly PropertyPlace['in'][]) =>
    properties.filter(({ place }) => wheres.includes(place.in));

  const path = at('path').map(({ field, place, schema }) => {
    const isRest = template.some(
      (segment) => typeof segment !== 'string' && segment.isRest === true && segment.parameter === place.name,
    );
    return pathParameter(field, schema, place, { isRest, isUnion });
  });
  const schemas = inputs.filter((input) => input !== undefined);
  // A path parameter is always sent, so the input is never absent.
  const isOptional = path.length === 0 && schemas.every(acceptsUndefined);
  const bodyShape: Shape = Object.fromEntries(at('body').map(({ field, schema }) => [field, schema]));
  const otherFields = at('query', 'header', 'cookie').map(({ field }) => field);
  const body = named
    ? operationBody(bodyShape, { rest, isInputOptional: isOptional, isUnion, otherFields })
    : wholeBody(schemas[0] ?? {}, isOptional, rest);
  return {
    isOptional,
    path,
    query: parameterMap(
      at('query').map(({ field, schema, place }) => queryParameter(field, schema, place, rest)),
    ),
    headers: at('header', 'cookie').map(({ field, schema, place }) => headerParameter(field, schema, place)),
    body,
    isUnion,
    parsers: parsers.filter(isStandardSchema),
    places: new Map(
      [...places].filter(([field, place]) => Object.hasOwn(rest.in ?? {}, field) && place.in !== 'body'),
    ),
    dateSchemas: body?.contentTypes.some(isJson) ? schemas.filter(hasDate) : [],
  };
}

/** @throws {GatewayError} if an input without named properties cannot be the whole body */
function rejectUnnamed(
  inputs: readonly (Schema | undefined)[],
  rest: RestMeta,
  template: PathTemplate,
  parsers: readonly unknown[],
): void {
  const unread = parsers[inputs.indexOf(undefined)];
  if (isStandardSchema(unread)) {
    const { vendor } = unread['~standard'];
    reject(`its input is a schema of ${vendor}, ${noJsonSchema(vendor)}`);
  }
  const [schema, ...others] = inputs;
  if (schema === undefined || others.includes(undefined)) {
    reject(
      'its input is neither a zod schema nor a schema that provides a JSON Schema, so its parameters have no names; use z.object(…)',
    );
  }
  if (others.length > 0)
    reject('it has several inputs, but not all of them are objects; use z.object(…) for each');
  const hasNoBody = rest.method === 'GET' || rest.method === 'DELETE';
  if (!hasNoBody && template.every((segment) => typeof segment === 'string') && rest.in === undefined) return;
  const type = bytesKind(schema) ? 'bytes' : (typeOf(innermost(schema) ?? {}) ?? 'unknown');
  const remedy = hasNoBody ? ', or a method with a body: QUERY or POST' : '';
  reject(
    `its input is of the type ${type}, which has no property names for parameters; use z.object(…)${remedy}`,
  );
}

const wholeBody = (schema: Schema, isOptional: boolean, rest: RestMeta): OperationBody =>
  bytesKind(schema)
    ? bytesBody(schema, undefined, isOptional, rest)
    : wholeInputBody(schema, isOptional, rest);
