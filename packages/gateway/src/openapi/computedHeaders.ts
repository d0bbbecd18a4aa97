import type { ResponseHeader, RestMeta } from '../procedures/meta.ts';
import { isZod } from '../procedures/isZod.ts';

/**
 * The response headers that metadata computes. Where it holds a zod object, as trpc-to-openapi's does, that only
 * describes them: the procedure sets them with `reply.header`.
 */
export const computedHeaders = ({
  responseHeaders = {},
}: RestMeta): readonly [name: string, ResponseHeader][] =>
  isZod(responseHeaders) ? [] : Object.entries(responseHeaders);
