import type { ErrorDefinitions } from '@petstore/gateway/meta';
import { TRPCError, type AnyTRPCProcedure } from '@trpc/server';
import { TypegenError } from './typegenError.ts';

type Middleware = ((options: object) => unknown) & { readonly _type?: string };

/** Where `declareErrors` of `@petstore/gateway/meta` looks for a function to call with its definitions. */
const definitionReader = Symbol.for('@petstore/gateway/definitionReader');

/**
 * The errors that a procedure declares, as the gateway reads them: those of `.errors(declareErrors(…))`, and those that
 * its metadata lists for a formatter of its own.
 * @throws {TypegenError} for a formatter of its own that its metadata does not describe
 */
export async function readDeclaredErrors(
  path: string,
  { _def }: AnyTRPCProcedure,
): Promise<ErrorDefinitions | undefined> {
  const { middlewares = [], meta, type } = _def as AnyTRPCProcedure['_def'] & { middlewares?: Middleware[] };
  const { errors: listed } = (meta ?? {}) as { readonly errors?: ErrorDefinitions };
  const formatters = middlewares.filter(({ _type }) => _type === 'errors');
  const found: ErrorDefinitions[] = [];
  for (const formatter of formatters) {
    const error = Object.assign(new TRPCError({ code: 'INTERNAL_SERVER_ERROR' }), {
      [definitionReader]: (definitions: ErrorDefinitions) => found.push(definitions),
    });
    const next = async () => ({ ok: false, error, marker: 'middlewareMarker' });
    try {
      await formatter({ next, path, type, meta, ctx: {}, input: undefined });
    } catch {
      // A formatter of the router's own may need more than it is given here.
    }
  }
  if (found.length < formatters.length && listed === undefined) {
    throw new TypegenError(
      `The procedure ${path}: the shape of its errors is not known at run time. Declare them: .errors(declareErrors({ … })) of @petstore/gateway/meta; or describe what the formatter makes in the metadata: errors.`,
    );
  }
  return formatters.length === 0 ? undefined : (Object.assign({}, listed, ...found) as ErrorDefinitions);
}
