import type { AnyTRPCRouter } from '@trpc/server';
import * as z from 'zod';
import type { DocumentOptions } from '../openapi/document.ts';
import type { ErrorFormat } from '../operations/errorFormat.ts';
import type { GatewayOptions } from '../assembly/options.ts';
import { ownMetadata } from '../schemas/zodSchema.ts';

const zodIssue = z.looseObject({
  code: z.string().optional(),
  message: z.string(),
  path: z.array(z.union([z.string(), z.number()])),
});

/**
 * The error bodies of trpc-to-openapi 3.3: the shape of `errorFormatter`, tRPC's code, and zod's issues. As over
 * tRPC, messages of unexpected errors are hidden unless `maskUnexpectedErrors` is false.
 */
export const trpcToOpenApiErrors: ErrorFormat = {
  contentType: 'application/json',
  schema: z
    .looseObject({ message: z.string(), code: z.string(), issues: z.array(zodIssue).optional() })
    .register(ownMetadata, { id: 'Error' }),
  body: ({ issues, message, shape, trpcCode }) => ({
    ...shape,
    message: issues.length > 0 ? 'Input validation failed' : (shape.message ?? message),
    code: trpcCode,
    issues: issues.length > 0 ? issues : undefined,
  }),
};

/**
 * Options of `createGateway` with which a router serves the clients of trpc-to-openapi 3.3. Options after it replace its
 * own: `compatibility: 'trpc-to-openapi-express'` keeps an empty parameter of a query absent, as on Express.
 * @param document the options of the document, which replace those of the preset
 * @example
 * createGateway({ ...trpcToOpenApi({ title: 'Pets', version: '1.0.0' }), router, createContext })
 */
export function trpcToOpenApi(document: DocumentOptions) {
  const complete: DocumentOptions = {
    operationId: (path) => path.replaceAll('.', '-'),
    securitySchemes: { Authorization: { type: 'http', scheme: 'bearer' } },
    ...document,
  };
  return {
    compatibility: 'trpc-to-openapi',
    document: complete,
    errorFormat: trpcToOpenApiErrors,
  } satisfies Partial<GatewayOptions<AnyTRPCRouter, unknown>>;
}
