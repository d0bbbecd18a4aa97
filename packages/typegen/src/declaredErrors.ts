import type { ErrorDefinitions } from 'trpc-gateway/procedures';
import { TRPCError, type AnyTRPCProcedure } from '@trpc/server';
import { TypegenError } from './typegenError.ts';

type ErrorMiddleware = ((options: object) => unknown) & { readonly _type?: string };

/** The symbol under which `declareErrors` of `trpc-gateway/procedures` finds a function to call with its definitions. */
const definitionReader = Symbol.for('trpc-gateway/definitionReader');

/**
 * Reads the errors that a procedure declares by `.errors(declareErrors(…))`, like the gateway.
 * @throws {TypegenError} for a custom formatter
 */
export async function readDeclaredErrors(
  path: string,
  { _def }: AnyTRPCProcedure,
): Promise<ErrorDefinitions | undefined> {
  const {
    middlewares = [],
    meta,
    type,
  } = _def as AnyTRPCProcedure['_def'] & { middlewares?: ErrorMiddleware[] };
  const formatters = middlewares.filter(({ _type }) => _type === 'errors');
  const readDefinitions: ErrorDefinitions[] = [];
  for (const formatter of formatters) {
    const error = Object.assign(new TRPCError({ code: 'INTERNAL_SERVER_ERROR' }), {
      [definitionReader]: (definitions: ErrorDefinitions) => readDefinitions.push(definitions),
    });
    const next = async () => ({ ok: false, error, marker: 'middlewareMarker' });
    try {
      await formatter({ next, path, type, meta, ctx: {}, input: undefined });
    } catch {
      // A custom formatter may need arguments that are missing here.
    }
  }
  if (readDefinitions.length < formatters.length) {
    throw new TypegenError(
      `Procedure "${path}": the shape of its errors is not known at run time. Declare them with .errors(declareErrors({ … })) of trpc-gateway/procedures.`,
    );
  }
  return formatters.length === 0 ? undefined : (Object.assign({}, ...readDefinitions) as ErrorDefinitions);
}
