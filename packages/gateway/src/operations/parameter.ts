import { collect, reject, withSubject } from '../checks/gatewayError.ts';
import {
  parameterConverter,
  textConverter,
  type ConversionOptions,
  type ParameterConverter,
} from './convert.ts';
import type { InputPlace } from '../procedures/meta.ts';
import type { PlacedProperty } from './propertyPlaces.ts';
import { queryTree, type QueryNode } from './queryTree.ts';
import { isObjectSchema, type Properties } from '../schemas/properties.ts';
import { acceptsUndefined, membersOf, typeOf, valuesOf } from '../schemas/schema.ts';

/** A property of the input that is sent as a string: in the path, the query, a header, a cookie, or a form field. */
export interface TextParameter extends PlacedProperty {
  /**
   * - `single`: one value
   * - `repeat`: the parameter is repeated for each item
   * - `comma`: a header with items separated by commas
   * - `rest`: the rest of the path, one item per segment
   * - `any`: one value, or a list of them if the parameter is repeated
   */
  readonly style: 'single' | 'repeat' | 'comma' | 'rest' | 'any';
  readonly converter: ParameterConverter;
}

/** A property of the input that is sent in the query with brackets: `filter[min]=1`. */
export interface TreeParameter extends PlacedProperty {
  readonly style: 'tree';
  readonly tree: QueryNode;
}

export type Parameter = TextParameter | TreeParameter;

/** Parameters by their names in a request. */
export interface ParameterMap<Each extends Parameter = Parameter> {
  readonly size: number;
  has(name: string): boolean;
  /** Returns a parameter, or what reads the unknown properties of a loose input. */
  get(name: string): Each | undefined;
  values(): Iterable<Each>;
}

/** As PHP, Rails, qs and axios write lists: `tags[]`, `tags[0]`. Items are in order of arrival, as in PHP. */
const listName = (name: string): string => name.replace(/\[\d*\]$/, '');

/** Parameters, some with brackets: objects, which are looked up by the part before the first one, and items of lists. */
class BracketParameters<Each extends Parameter> extends Map<string, Each> {
  override get(name: string): Each | undefined {
    const bracket = name.indexOf('[');
    if (bracket === -1) return super.get(name);
    const object = super.get(name.slice(0, bracket));
    if (object?.style === 'tree') return object;
    const list = super.get(listName(name));
    return super.get(name) ?? (list?.style === 'repeat' ? list : undefined);
  }

  override has(name: string): boolean {
    return this.get(name) !== undefined;
  }
}

/** Returns parameters by their names, with those that have brackets. */
export const byName = <Each extends Parameter>(
  entries: readonly (readonly [string, Each])[],
): ParameterMap<Each> =>
  entries.some(([, { style }]) => style === 'tree' || style === 'repeat')
    ? new BracketParameters(entries)
    : new Map(entries);

/** Adds unknown properties of a loose input. @throws {GatewayError} if text cannot convert to their type */
export function withOthers<Each extends Parameter>(
  named: ParameterMap<Each>,
  { shape, others }: Properties,
  where: InputPlace,
  options: ConversionOptions,
): ParameterMap<Each | TextParameter> {
  if (others === undefined) return named;
  const isAny = options.isLenient || (!typeOf(others) && !membersOf(others) && !valuesOf(others));
  const converter = isAny
    ? textConverter
    : withSubject('the schema of its other properties', () => parameterConverter(others, options));
  const style = isAny ? 'any' : converter.isRepeated ? 'repeat' : 'single';
  return {
    size: Infinity,
    has: (name) => named.has(name),
    get(name) {
      const known = named.get(name);
      // Assigning `__proto__` would replace the prototype of the input; zod ignores it too.
      if (known || name === '__proto__' || Object.hasOwn(shape, name)) return known;
      return { field: name, place: { in: where, name }, schema: others, converter, style };
    },
    values: () => named.values(),
  };
}

/** @throws {GatewayError} */
export function queryParameters(properties: readonly PlacedProperty[], isLenient?: boolean): ParameterMap {
  const parameters: readonly Parameter[] = collect(
    properties.map((property) => (): Parameter => {
      const { field, schema } = property;
      if (!isObjectSchema(schema)) return textParameter(property, { isLenient });
      const tree = withSubject(`"${field}"`, () => queryTree(schema, isLenient));
      return { ...property, style: 'tree', tree };
    }),
  );
  return byName(parameters.map((parameter) => [parameter.place.name, parameter] as const));
}

/** @throws {GatewayError} */
export function textParameter(
  property: PlacedProperty,
  options: ConversionOptions & { readonly isRest?: boolean } = {},
): TextParameter {
  const { field, place, schema } = property;
  const { isLenient, isRest } = options;
  return withSubject(`"${field}"`, () => {
    const converter = parameterConverter(schema, options);
    if (place.in === 'path' && acceptsUndefined(schema) && !isLenient) {
      reject(
        'is optional, at least in a member of a union, but path parameters are required; make it required',
      );
    }
    if (isRest) return { ...property, converter, style: 'rest' };
    if (!converter.isRepeated) return { ...property, converter, style: isLenient ? 'any' : 'single' };
    if (place.in === 'path' || place.in === 'cookie') {
      if (isLenient)
        return { ...property, converter: { ...converter, convert: (text) => [text] }, style: 'any' };
      reject(`is an array, which is not supported in a ${place.in}; move it to the query or a header`);
    }
    return { ...property, converter, style: place.in === 'header' ? 'comma' : 'repeat' };
  });
}
