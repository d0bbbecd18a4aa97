import type { AnyTRPCRouter } from '@trpc/server';
import type { HttpResponse } from '../http/response.ts';
import type { CreateDocumentOptions } from './document.ts';
import type { OpenApiDocument } from './openApiDocument.ts';

/** The OpenAPI document of a router. It is created once, on first use. */
export interface LazyDocument {
  readonly value: () => Promise<OpenApiDocument>;
  /** Returns the response at the document's path. */
  readonly response: () => Promise<HttpResponse>;
}

export function lazyDocument(router: AnyTRPCRouter, options: CreateDocumentOptions): LazyDocument {
  let created: Promise<OpenApiDocument> | undefined;
  let json: Promise<string> | undefined;
  const value = () =>
    // Imported on first use: the generator takes about 20 MB and 200 ms to load (trpc-to-openapi 3.3.0).
    (created ??= import('./document.ts').then(({ createDocument }) => createDocument(router, options)));
  return {
    value,
    response: async () => ({
      status: 200,
      headers: [['content-type', 'application/json']],
      body: await (json ??= value().then((document) => JSON.stringify(document))),
    }),
  };
}
