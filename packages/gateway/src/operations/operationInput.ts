import { collect, reject } from '../checks/gatewayError.ts';
import { boundTexts } from '../procedures/boundTexts.ts';
import type { RestMeta } from '../procedures/meta.ts';
import { isStandardSchema, type StandardSchema } from '../schemas/standardSchema.ts';
import { isZod } from '../schemas/zodSchema.ts';
import { hasDate } from './inspectJson.ts';
import { readDates } from './jsonDates.ts';
import { convertLeniently } from './lenient.ts';
import { isJson, operationBody, type OperationBody } from './operationBody.ts';
import {
  queryParameters,
  textParameter,
  withOthers,
  type ParameterMap,
  type TextParameter,
} from './parameter.ts';
import type { PathTemplate } from './pathTemplate.ts';
import { defaultPlace, propertyPlaces, type PropertyPlace } from './propertyPlaces.ts';
import { inputProperties } from '../schemas/properties.ts';
import { acceptsUndefined, details, isVoid, type Schema } from '../schemas/schema.ts';

type Conversion = (value: unknown) => unknown;

/** The places of a procedure's input in a request, derived once from the metadata and the schemas. */
export interface OperationInput {
  /** Whether the input may be absent: a request without any part of it gives `undefined`, as over tRPC. */
  readonly isOptional: boolean;
  /** The path parameters, in the template's order. */
  readonly path: readonly TextParameter[];
  readonly query: ParameterMap;
  /** Whether parameters of the query with an empty value are absent. */
  readonly ignoresEmpty: boolean;
  /** The parameters in headers and cookies. */
  readonly headers: readonly TextParameter[];
  readonly body: OperationBody | undefined;
  readonly isUnion: boolean;
  /** The procedure's own schemas, of any library; those of zod with bounded texts. */
  readonly parsers: readonly StandardSchema[];
  /** The places that the metadata sets (`in`), except the body, by property; for error messages. */
  readonly places: ReadonlyMap<string, PropertyPlace>;
  /** Whether the values are converted as trpc-to-openapi converts them (`compatibility`). */
  readonly isLenient: boolean;
  /** Converts the whole input: the dates of a JSON body, or all values if it is lenient. */
  readonly convert: Conversion | undefined;
}

/** Derives the places of an input from its schemas. @throws {GatewayError} if REST cannot send it */
export function operationInput(
  inputs: readonly (Schema | undefined)[],
  rest: RestMeta,
  template: PathTemplate,
  parsers: readonly unknown[],
): OperationInput {
  const named = inputs.some((input) => input?.[details]?.isForm) ? undefined : inputProperties(inputs);
  const schemas = inputs.filter((input) => input !== undefined);
  const zodParsers = parsers.filter(isZod);
  const isLenient =
    rest.compatibility !== undefined &&
    named !== undefined &&
    zodParsers.length === parsers.length &&
    !schemas.every(isVoid);
  const properties = named ? propertyPlaces(named.shape, rest, template) : [];
  const at = (...wheres: readonly PropertyPlace['in'][]) =>
    properties.filter(({ place }) => wheres.includes(place.in));
  const restName = template.find((segment) => typeof segment !== 'string' && segment.isRest);
  const [path, namedQuery, headers] = collect([
    () =>
      collect(
        at('path').map((property) => () => {
          const isRest = typeof restName === 'object' && restName.parameter === property.place.name;
          return textParameter(property, { isLenient, isRest });
        }),
      ),
    () => queryParameters(at('query'), isLenient),
    () => collect(at('header', 'cookie').map((property) => () => textParameter(property, { isLenient }))),
  ]);
  const isBody = defaultPlace(rest) === 'body';
  // Lenient: a strict object rejects other names, and another one drops them.
  const read = isLenient ? { ...named, others: named.others ?? {} } : named;
  const query = read && !isBody ? withOthers(namedQuery, read, 'query', { isLenient }) : namedQuery;
  // A path parameter is always sent, so the input is never absent.
  const isOptional = path.length === 0 && schemas.every(acceptsUndefined);
  const isUnion = named?.isUnion ?? false;
  const body = operationBody(
    {
      whole: named ? undefined : wholeInput(inputs, rest, template),
      properties: at('body'),
      loose: isBody && named?.others ? named : undefined,
      otherFields: at('query', 'header', 'cookie').map(({ field }) => field),
      isOptional,
      isUnion,
      isLenient,
    },
    rest,
  );
  const dated = body?.contentTypes.some(isJson) ? schemas.filter(hasDate) : [];
  const readAllDates: Conversion = (value) =>
    dated.reduce((result, schema) => readDates(schema, result), value);
  const convertAll: Conversion = (value) =>
    zodParsers.reduce((result, parser) => convertLeniently(parser, result), value);
  return {
    isOptional,
    path,
    query,
    ignoresEmpty: rest.compatibility === 'trpc-to-openapi-express',
    headers,
    body,
    isUnion,
    parsers: parsers.filter(isStandardSchema).map((parser) => (isZod(parser) ? boundTexts(parser) : parser)),
    places: new Map(
      properties.flatMap(({ field, place }) =>
        Object.hasOwn(rest.in ?? {}, field) && place.in !== 'body' ? [[field, place]] : [],
      ),
    ),
    isLenient,
    convert: isLenient ? convertAll : dated.length > 0 ? readAllDates : undefined,
  };
}

/** Describes an input without named properties. @throws {GatewayError} if it cannot be the whole body */
function wholeInput(
  [schema, ...others]: readonly (Schema | undefined)[],
  rest: RestMeta,
  template: PathTemplate,
): Schema {
  const hasBody = rest.method !== 'GET' && rest.method !== 'DELETE';
  const hasParameters = rest.in !== undefined || template.some((segment) => typeof segment !== 'string');
  if (schema === undefined && others.length === 0) {
    return reject('its input is a function, which has no schema; use a schema, such as z.object(…)');
  }
  if (schema !== undefined && others.length === 0 && hasBody && !hasParameters) return schema;
  return reject(
    'its input has no property names for parameters; use z.object(…) for each of its inputs, or one schema, a method with a body, such as POST, and a path without parameters',
  );
}
