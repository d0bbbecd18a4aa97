import type { AnyTRPCRouter } from '@trpc/server';
import { z } from 'zod';
import type { ErrorFormat } from './operations/errorFormat.ts';
import type { GatewayOptions } from './options.ts';

const zodIssue = z.looseObject({
  code: z.string().optional(),
  message: z.string(),
  path: z.array(z.union([z.string(), z.number()])),
});

/**
 * The error bodies of trpc-to-openapi 3.3: `{ ...shape, message, code, issues }`, with the shape of the router's
 * `errorFormatter`, tRPC's code, and zod's issues of an invalid input. As over tRPC, messages of unexpected errors are
 * sent unless `maskUnexpectedErrors` is set.
 */
export const trpcToOpenApiErrors: ErrorFormat = {
  contentType: 'application/json',
  schema: z
    .looseObject({ message: z.string(), code: z.string(), issues: z.array(zodIssue).optional() })
    .meta({ id: 'Error' }),
  body: ({ issues, message, shape, trpcCode }) => ({
    ...shape,
    message: issues.length > 0 ? 'Input validation failed' : (shape.message ?? message),
    code: trpcCode,
    issues: issues.length > 0 ? issues : undefined,
  }),
};

/**
 * Options of `createGateway` with which a router serves the clients of trpc-to-openapi 3.3. Options after it replace its
 * own: on Express, `ignoreEmptyQuery: true` keeps an empty parameter of a query absent.
 * @example
 * createGateway({ ...trpcToOpenApi(), router, createContext, document })
 */
export const trpcToOpenApi = () =>
  ({
    strictness: 'lenient',
    ignoreTrailingSlash: true,
    ignorePathCase: true,
    voidStatus: 200,
    operationId: (path) => path.replaceAll('.', '-'),
    securitySchemes: { Authorization: { type: 'http', scheme: 'bearer' } },
    errorFormat: trpcToOpenApiErrors,
  }) satisfies Partial<GatewayOptions<AnyTRPCRouter, unknown>>;
