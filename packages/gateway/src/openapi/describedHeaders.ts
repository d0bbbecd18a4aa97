import type { Scheme } from '../calls/scheme.ts';
import type { Operation } from '../operations/operation.ts';

/** Returns the response headers of all operations, which CORS exposes automatically. */
export const describedHeaders = (
  operations: readonly Operation[],
  schemes: readonly Scheme[],
): readonly string[] => [
  ...operations.flatMap(({ rest }) =>
    Object.keys({ ...rest.responseHeaders?._zod.def.shape, ...rest.headers }),
  ),
  ...(schemes.some(({ protectedResource }) => protectedResource) ? ['WWW-Authenticate'] : []),
];
