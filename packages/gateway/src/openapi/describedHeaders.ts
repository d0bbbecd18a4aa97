import type { z } from 'zod';
import type { DescribedHeaders } from '../policies/cors.ts';
import type { Scheme } from '../calls/scheme.ts';
import { isZod } from '../procedures/standardSchema.ts';
import type { Operation } from '../operations/operation.ts';

/** Returns the request headers, response headers and methods of all operations, which CORS allows automatically. */
export function describedHeaders(
  operations: readonly Operation[],
  schemes: readonly Scheme[],
  routeMethods: readonly string[],
): DescribedHeaders {
  return {
    request: [
      ...operations.flatMap(({ input, rest }) => [
        ...headerNames(rest.requestHeaders),
        ...input.headers.flatMap(({ place }) => (place.in === 'header' ? [place.name] : [])),
      ]),
      // Pages must be allowed to send the header of an API key.
      ...schemes.flatMap(({ document }) => (document['in'] === 'header' ? [String(document['name'])] : [])),
    ],
    response: operations
      .flatMap(({ input, rest }) => [
        ...headerNames(rest.responseHeaders),
        ...(rest.method === 'QUERY' && input.body ? ['Accept-Query'] : []),
      ])
      .concat(schemes.some(({ protectedResource }) => protectedResource) ? ['WWW-Authenticate'] : []),
    methods: [...operations.map(({ rest }) => rest.method), ...routeMethods],
  };
}

const headerNames = (headers: object = {}) =>
  Object.keys(isZod(headers) ? (headers as z.ZodObject).shape : headers);
