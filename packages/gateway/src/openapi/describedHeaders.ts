import type { z } from 'zod';
import type { DescribedHeaders } from '../policies/cors.ts';
import type { Scheme } from '../calls/scheme.ts';
import { isZod } from '../procedures/standardSchema.ts';
import type { Operation } from '../operations/operation.ts';

/** Returns the response headers and methods of all operations, which CORS allows automatically. */
export function describedHeaders(
  operations: readonly Operation[],
  schemes: readonly Scheme[],
  routeMethods: readonly string[],
): DescribedHeaders {
  return {
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
