import { tokenPattern } from '../http/headers.ts';
import { reject } from '../http/gatewayError.ts';
import type { InputPlace, RestMeta } from '../procedures/meta.ts';
import type { PathTemplate } from './pathTemplate.ts';
import type { Shape } from './schema.ts';

/** The place of an input property in a request (path, query, header, cookie or body), and its name there. */
export interface PropertyPlace {
  readonly in: InputPlace;
  readonly name: string;
}

const inputPlaces: ReadonlySet<InputPlace> = new Set(['path', 'query', 'header', 'cookie', 'body']);
const inQuery = new Set<RestMeta['method']>(['GET', 'DELETE']);

/**
 * Determines the place of each input property: the metadata's `in`, otherwise the path if the template has its name,
 * otherwise the query for `GET` and `DELETE`, or the body. Path parameters come first, in the template's order.
 * @throws {GatewayError}
 */
export function propertyPlaces(
  shape: Shape,
  rest: RestMeta,
  template: PathTemplate,
): ReadonlyMap<string, PropertyPlace> {
  const placesOfMetadata = metadataPlaces(shape, rest);
  const fieldOf = new Map<string, string>();
  for (const [field, place] of placesOfMetadata) if (place.in === 'path') fieldOf.set(place.name, field);
  const places = new Map<string, PropertyPlace>();
  const pathNames = template.flatMap((segment) => (typeof segment === 'string' ? [] : [segment.parameter]));
  for (const name of pathNames) {
    const field = fieldOf.get(name) ?? name;
    if (!Object.hasOwn(shape, field)) {
      reject(
        `its path has the parameter {${name}}, but its input has no property "${name}"; add it to the input, or rename the parameter`,
      );
    }
    const other = placesOfMetadata.get(field)?.in ?? 'path';
    if (other !== 'path') {
      reject(
        `"${field}" is in its path, but its metadata declares in: "${other}"; change it to "path", or remove it`,
      );
    }
    places.set(field, { in: 'path', name });
  }
  if (new Set(pathNames).size < pathNames.length) {
    reject('its path has two parameters with the same name; rename one of them');
  }
  for (const field of Object.keys(shape)) {
    if (places.has(field)) continue;
    const place = placesOfMetadata.get(field) ?? {
      in: inQuery.has(rest.method) ? 'query' : 'body',
      name: field,
    };
    if (place.in === 'path') {
      reject(
        `its metadata declares "${field}" in the path, but its path has no {${place.name}}; add it to the path`,
      );
    }
    places.set(field, place);
  }
  rejectDuplicates(places, rest);
  for (const field of Object.keys(typeof rest.queryStyle === 'object' ? rest.queryStyle : {})) {
    if (places.get(field)?.in === 'query') continue;
    reject(`its queryStyle names "${field}", which is not in its query; remove it`);
  }
  return places;
}

function metadataPlaces(
  shape: Shape,
  { in: all = {}, method }: RestMeta,
): ReadonlyMap<string, PropertyPlace> {
  const placesOfMetadata = new Map<string, PropertyPlace>();
  for (const [field, value] of Object.entries(all)) {
    if (!Object.hasOwn(shape, field)) {
      reject(
        `its metadata declares in: { ${field}: … }, but its input has no property "${field}"; add it to the input, or rename it`,
      );
    }
    const place = typeof value === 'string' ? { in: value, name: field } : { name: field, ...value };
    if (!inputPlaces.has(place.in)) {
      reject(
        `its metadata declares "${field}" in "${place.in}"; it must be one of ${[...inputPlaces].join(', ')}`,
      );
    }
    if (place.in === 'body' && method === 'GET') {
      reject(`"${field}" is in the body, but GET has no body (RFC 9110 §9.3.1); use QUERY or POST`);
    }
    if (place.in === 'body' && place.name !== field) {
      reject(
        `"${field}" has another name in the body, which is not supported; rename the property, or remove the name`,
      );
    }
    if (place.in === 'header') checkHeader(field, place.name);
    if (place.in === 'cookie' && !tokenPattern.test(place.name)) {
      reject(
        `"${field}" is in the cookie "${place.name}", which is not a valid cookie name (RFC 6265bis §4.1.1); rename it`,
      );
    }
    placesOfMetadata.set(field, place);
  }
  return placesOfMetadata;
}

/** Request headers that cannot be input, with the reason. Names are in lower case. */
const reservedHeaders: readonly (readonly [reason: string, names: RegExp])[] = [
  // OpenAPI 3.1 §4.8.12.2.1 ignores parameters of these names too.
  [
    'holds the credential, which is checked before the input is read; use the identity of the context',
    /^(?:proxy-)?authorization$/,
  ],
  [
    'describes the body or the response, and OpenAPI ignores a parameter of this name; read it in createContext',
    /^(?:accept|content-(?:type|encoding))$/,
  ],
  ['names the server that the request is for; read it in createContext', /^(?:host|:authority)$/],
  [
    'controls the message or the connection, and proxies change it; use another name',
    /^(?:content-length|transfer-encoding|connection|keep-alive|proxy-connection|te|trailer|upgrade|expect)$/,
  ],
  ['holds all cookies; declare in: "cookie"', /^cookie$/],
  ['is read by the gateway; declare idempotencyKey: true, and read it in createContext', /^idempotency-key$/],
];

function checkHeader(field: string, name: string): void {
  if (!tokenPattern.test(name)) {
    reject(
      `"${field}" is in the header "${name}", which is not a valid header name (RFC 9110 §5.1); use a name such as X-Tenant`,
    );
  }
  const reservedHeader = reservedHeaders.find(([, names]) => names.test(name.toLowerCase()));
  if (reservedHeader) reject(`"${field}" is in the header ${name}, which ${reservedHeader[0]}`);
}

/** Rejects two properties with the same place and name. */
function rejectDuplicates(places: ReadonlyMap<string, PropertyPlace>, { requestHeaders }: RestMeta): void {
  const fieldByPlace = new Map<string, string>();
  for (const [field, { in: where, name }] of places) {
    const key = `${where} ${where === 'header' ? name.toLowerCase() : name}`;
    const other = fieldByPlace.get(key);
    if (other !== undefined)
      reject(`"${other}" and "${field}" are both in the ${where} as "${name}"; rename one of them`);
    fieldByPlace.set(key, field);
  }
  for (const name of Object.keys(requestHeaders?.shape ?? {})) {
    const field = fieldByPlace.get(`header ${name.toLowerCase()}`);
    if (field !== undefined) {
      reject(
        `its requestHeaders describe ${name}, which is already its input "${field}"; remove it from requestHeaders`,
      );
    }
  }
}
