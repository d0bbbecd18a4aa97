import type { z } from 'zod';
import type { Scheme } from '../calls/scheme.ts';
import { isZod } from '../procedures/standardSchema.ts';
import type { Operation } from '../operations/operation.ts';

/** Returns the response headers of all operations, which CORS exposes automatically. */
export const describedHeaders = (
  operations: readonly Operation[],
  schemes: readonly Scheme[],
): readonly string[] => [
  ...operations.flatMap(({ input, rest }) => [
    ...headerNames(rest.responseHeaders),
    ...(rest.method === 'QUERY' && input.body ? ['Accept-Query'] : []),
  ]),
  ...(schemes.some(({ protectedResource }) => protectedResource) ? ['WWW-Authenticate'] : []),
];

const headerNames = (headers: object = {}) =>
  Object.keys(isZod(headers) ? (headers as z.ZodObject).shape : headers);
