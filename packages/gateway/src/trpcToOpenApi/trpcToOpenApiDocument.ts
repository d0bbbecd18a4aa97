import type { AnyTRPCRouter } from '@trpc/server';
import type { oas31 } from 'zod-openapi';
import { GatewayError } from '../checks/gatewayError.ts';
import type { DocumentOptions } from '../openapi/document.ts';
import type { ZodSchema } from '../schemas/zodSchema.ts';

/** The options of `generateOpenApiDocument` of trpc-to-openapi 3.3, which documents them. */
// Not the type of trpc-to-openapi, which declarations of a package can only name if it is installed.
export interface TrpcToOpenApiDocumentInfo {
  readonly title: string;
  readonly version: string;
  readonly baseUrl: string;
  readonly description?: string;
  readonly contact?: oas31.ContactObject;
  readonly license?: oas31.LicenseObject;
  /** Default: `3.1.0`. */
  readonly openApiVersion?: '3.0.0' | '3.0.1' | '3.0.2' | '3.0.3' | '3.1.0' | '3.1.1';
  readonly docsUrl?: string;
  readonly tags?: string[];
  readonly securitySchemes?: Record<string, oas31.SecuritySchemeObject>;
  /** Paths that are added to those of the procedures. Their schemas may be schemas of zod. */
  readonly paths?: Record<string, object>;
  /** Whether the document has a procedure with this metadata. */
  // oxlint-disable-next-line typescript/no-explicit-any -- the metadata of the router, which its caller knows
  readonly filter?: (procedure: { readonly metadata: any }) => boolean;
  /** Schemas that are added to the components. */
  readonly defs?: Record<string, ZodSchema>;
}

/**
 * Returns the option `document` with which the gateway serves the document that `generateOpenApiDocument` of
 * trpc-to-openapi writes, to the byte, for clients that are generated from it. Requires `npm install trpc-to-openapi`, which
 * is loaded when the document is first requested. The metadata of the router must have `method` and `path`.
 * @param info the second argument of `generateOpenApiDocument`
 * @example
 * createGateway({
 *   ...trpcToOpenApi(trpcToOpenApiDocument(router, { title: 'Books', version: '1.0.0', baseUrl: '/v1' })),
 *   router,
 *   createContext,
 * })
 */
export function trpcToOpenApiDocument(
  router: AnyTRPCRouter,
  info: TrpcToOpenApiDocumentInfo,
): DocumentOptions {
  const { title, version } = info;
  return {
    title,
    version,
    async transform() {
      const { generateOpenApiDocument } = await import('trpc-to-openapi').catch((cause: unknown) => {
        throw new GatewayError(
          'trpcToOpenApiDocument needs trpc-to-openapi, which could not be loaded. Run `npm install trpc-to-openapi@3.3`.',
          { cause },
        );
      });
      // The types of trpc-to-openapi name the path items of zod-openapi 5.
      return generateOpenApiDocument(router, info as Parameters<typeof generateOpenApiDocument>[1]);
    },
  };
}
