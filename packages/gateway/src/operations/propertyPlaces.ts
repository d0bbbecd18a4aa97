import { tokenPattern } from '../http/response.ts';
import { collect, reject } from '../checks/gatewayError.ts';
import type { InputPlace, RestMeta } from '../procedures/meta.ts';
import type { PathTemplate } from './pathTemplate.ts';
import type { Schema, Shape } from '../schemas/schema.ts';

/** The place of an input property in a request (path, query, header, cookie or body), and its name there. */
export interface PropertyPlace {
  readonly in: InputPlace;
  readonly name: string;
}

export interface PlacedProperty {
  readonly field: string;
  readonly place: PropertyPlace;
  readonly schema: Schema;
}

/** Returns the place of properties that have no other. */
export const defaultPlace = ({ method }: RestMeta): 'query' | 'body' =>
  method === 'GET' || method === 'DELETE' ? 'query' : 'body';

/** Read by the gateway, a proxy or the connection, or ignored by OpenAPI (3.1 §4.8.12.2.1). Lower case. */
const reservedHeader =
  /^(?:(?:proxy-)?(?:authorization|connection)|accept|content-(?:type|encoding|length)|host|:authority|transfer-encoding|keep-alive|te|trailer|upgrade|expect|cookie|idempotency-key)$/;

/**
 * The metadata's `in`, else the path if the template has the name, else the query for `GET` and `DELETE`, or the
 * body. Path parameters come first, in the template's order.
 * @throws {GatewayError}
 */
export function propertyPlaces(
  shape: Shape,
  rest: RestMeta,
  template: PathTemplate,
): readonly PlacedProperty[] {
  const { in: declared = {}, method } = rest;
  const pathNames = template.flatMap((segment) => (typeof segment === 'string' ? [] : [segment.parameter]));
  const [, properties] = collect([
    () =>
      collect(
        Object.keys(declared).map((field) => () => {
          if (Object.hasOwn(shape, field)) return;
          reject(
            `its metadata declares in: { ${field}: … }, but its input has no property "${field}"; add it to the input, or rename it`,
          );
        }),
      ),
    () =>
      collect(
        Object.entries(shape).map(([field, schema]) => (): PlacedProperty => {
          const own = Object.hasOwn(declared, field) ? declared[field] : undefined;
          const place = {
            in: pathNames.includes(field) ? 'path' : defaultPlace(rest),
            name: field,
            ...(typeof own === 'string' ? { in: own } : own),
          } as const;
          checkPlace(field, place, method);
          return { field, place, schema };
        }),
      ),
  ]);
  const fieldByPlace = new Map<string, string>();
  for (const { field, place } of properties) {
    const key = `${place.in} ${place.in === 'header' ? place.name.toLowerCase() : place.name}`;
    const other = fieldByPlace.get(key);
    if (other !== undefined) {
      reject(`"${other}" and "${field}" are both in the ${place.in} as "${place.name}"; rename one of them`);
    }
    fieldByPlace.set(key, field);
  }
  const placed = new Set<PlacedProperty>();
  for (const name of pathNames) {
    const property = properties.find(({ place }) => place.in === 'path' && place.name === name);
    if (property === undefined) {
      reject(
        `its path has the parameter {${name}}, but its input has no property "${name}" for it; add it to the input, or rename the parameter`,
      );
    }
    if (placed.has(property)) {
      reject(`its path has the parameter {${name}} twice; give one of them another name`);
    }
    placed.add(property);
  }
  for (const property of properties) {
    const { field, place } = property;
    if (place.in === 'path' && !placed.has(property)) {
      reject(
        `its metadata declares "${field}" in the path, but its path has no {${place.name}}; add it to the path`,
      );
    }
    placed.add(property);
  }
  return [...placed];
}

function checkPlace(field: string, { in: where, name }: PropertyPlace, method: RestMeta['method']): void {
  if (where === 'body' && method === 'GET') {
    reject(`"${field}" is in the body, but GET has no body (RFC 9110 §9.3.1); use POST`);
  }
  if (where === 'body' && name !== field) {
    reject(
      `"${field}" has another name in the body, which is not supported; rename the property, or remove the name`,
    );
  }
  if (where !== 'header' && where !== 'cookie') return;
  if (!tokenPattern.test(name)) {
    reject(`"${field}" is in the ${where} "${name}", which is not a valid name (RFC 9110 §5.1); rename it`);
  }
  if (where === 'header' && reservedHeader.test(name.toLowerCase())) {
    reject(
      `"${field}" is in the header ${name}, which is not part of an input; read it in createContext, or use another name`,
    );
  }
}
