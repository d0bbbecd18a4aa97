import type { QueryStyle, RestMeta } from '../procedures/meta.ts';
import { reject, withSubject } from '../http/gatewayError.ts';
import { itemsOf, parameterConverter, type ParameterConverter } from './convert.ts';
import type { PropertyPlace } from './propertyPlaces.ts';
import { queryTree, type QueryNode } from './queryTree.ts';
import { acceptsUndefined, isObjectSchema, type Schema } from './schema.ts';

interface PlacedProperty {
  /** The property of the input. */
  readonly field: string;
  readonly place: PropertyPlace;
  readonly schema: Schema;
}

/** A property of the input that is sent as a string: in the path, the query, a header, a cookie, or a form field. */
export interface TextParameter extends PlacedProperty {
  /**
   * - `single`: one value
   * - `repeat`: the parameter is repeated for each item
   * - `comma`: one value with items separated by commas
   * - `rest`: the rest of the path, one item per segment
   */
  readonly style: 'single' | 'repeat' | 'comma' | 'rest';
  readonly converter: ParameterConverter;
}

/** A property of the input that is sent in the query with brackets: `filter[min]=1`. */
export interface TreeParameter extends PlacedProperty {
  readonly style: 'tree';
  /** The structure of the brackets. */
  readonly tree: QueryNode;
}

export type Parameter = TextParameter | TreeParameter;

/** Parameters by their names in a request. */
export interface ParameterMap {
  readonly size: number;
  get(name: string): Parameter | undefined;
  values(): Iterable<Parameter>;
}

/** Parameters, some with brackets. A name with brackets is looked up by the part before the first one. */
class TreeParameters extends Map<string, Parameter> {
  override get(name: string): Parameter | undefined {
    const bracket = name.indexOf('[');
    if (bracket === -1) return super.get(name);
    const parameter = super.get(name.slice(0, bracket));
    return parameter?.style === 'tree' ? parameter : super.get(name);
  }
}

export function parameterMap(parameters: readonly Parameter[]): ParameterMap {
  const entries = parameters.map((parameter) => [parameter.place.name, parameter] as const);
  return parameters.some(({ style }) => style === 'tree') ? new TreeParameters(entries) : new Map(entries);
}

/** @throws {GatewayError} */
export function pathParameter(
  field: string,
  schema: Schema,
  place: PropertyPlace,
  { isRest, isUnion }: { readonly isRest: boolean; readonly isUnion: boolean },
): TextParameter {
  return withSubject(`"${field}"`, () => {
    const converter = parameterConverter(schema);
    if (acceptsUndefined(schema)) {
      reject(
        isUnion
          ? 'is missing or optional in a member of the union, but path parameters are required; make it required in each member'
          : 'is optional, but path parameters are required; make it required',
      );
    }
    if (converter.isRepeated && !isRest) {
      reject(
        `is an array, which is not supported in a path; move it to the query, or end the path with {+${place.name}}`,
      );
    }
    return { field, place, schema, converter, style: isRest ? 'rest' : 'single' };
  });
}

/** @throws {GatewayError} */
export function headerParameter(field: string, schema: Schema, place: PropertyPlace): TextParameter {
  return withSubject(`"${field}"`, () => {
    if (isObjectSchema(schema))
      reject(
        `is an object, which is not supported in a ${place.in}; make each of its properties a parameter`,
      );
    const converter = parameterConverter(schema);
    if (converter.isRepeated && place.in === 'cookie') {
      reject('is an array, which is not supported in a cookie; move it to the query or a header');
    }
    return { field, place, schema, converter, style: converter.isRepeated ? 'comma' : 'single' };
  });
}

/**
 * Creates the parameter of a form field.
 * @param isMultipart whether files can be sent
 * @throws {GatewayError}
 */
export function formParameter(field: string, schema: Schema, isMultipart: boolean): TextParameter {
  return withSubject(`"${field}"`, () => {
    const converter = parameterConverter(schema, isMultipart);
    const place = { in: 'body', name: field } as const;
    return { field, place, schema, converter, style: converter.isRepeated ? 'repeat' : 'single' };
  });
}

/** @throws {GatewayError} */
export function queryParameter(
  field: string,
  schema: Schema,
  place: PropertyPlace,
  { queryStyle }: RestMeta,
): Parameter {
  return withSubject(`"${field}"`, () => {
    const fieldStyle = ownStyle(field, queryStyle);
    const style = typeof queryStyle === 'string' ? queryStyle : fieldStyle;
    const property = { field, place, schema };
    if (isObjectSchema(schema)) {
      if (fieldStyle === 'repeat' || fieldStyle === 'comma') {
        reject(
          `is an object, which queryStyle "${fieldStyle}" does not support; use "deepObject", or remove queryStyle`,
        );
      }
      return { ...property, style: 'tree', tree: queryTree(schema) };
    }
    const items = itemsOf(schema);
    if (items === undefined) {
      if (fieldStyle !== undefined)
        reject(`is neither an array nor an object; remove its queryStyle "${fieldStyle}"`);
      return { ...property, style: 'single', converter: parameterConverter(schema) };
    }
    if (style === 'brackets') return { ...property, style: 'tree', tree: queryTree(schema) };
    if (fieldStyle === 'deepObject')
      reject('is an array, which queryStyle "deepObject" does not support; use "brackets"');
    rejectNested(items, field);
    return {
      ...property,
      style: style === 'comma' ? 'comma' : 'repeat',
      converter: parameterConverter(schema),
    };
  });
}

function ownStyle(field: string, queryStyle: RestMeta['queryStyle'] = {}): QueryStyle | undefined {
  const fieldStyle =
    typeof queryStyle === 'object' ? new Map(Object.entries(queryStyle)).get(field) : undefined;
  const style = typeof queryStyle === 'string' ? queryStyle : fieldStyle;
  if (style !== undefined && !queryStyles.has(style)) {
    reject(`has the queryStyle "${style}"; it must be one of ${[...queryStyles].join(', ')}`);
  }
  return fieldStyle;
}

const queryStyles: ReadonlySet<QueryStyle> = new Set(['repeat', 'comma', 'brackets', 'deepObject']);

function rejectNested(item: Schema, field: string): void {
  const isArray = itemsOf(item) !== undefined;
  if (!isArray && !isObjectSchema(item)) return;
  const what = isArray ? 'an array of arrays' : 'an array of objects';
  reject(`is ${what}, which requires queryStyle: { ${field}: "brackets" }`);
}
