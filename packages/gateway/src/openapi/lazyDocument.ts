import type { AnyTRPCRouter } from '@trpc/server';
import type { HttpResponse } from '../http/response.ts';
import type { CreateDocumentOptions, OpenApiDocument } from './document.ts';

/** The document of a router, which is made once, at its first use. */
export interface LazyDocument {
  readonly value: () => Promise<OpenApiDocument>;
  /** What is served at its path. */
  readonly response: () => Promise<HttpResponse>;
}

export function lazyDocument(router: AnyTRPCRouter, options: CreateDocumentOptions): LazyDocument {
  let made: Promise<OpenApiDocument> | undefined;
  let json: Promise<string> | undefined;
  const value = () =>
    // Loaded at the first use: the generator takes about 20 MB and 200 ms (trpc-to-openapi 3.3.0).
    (made ??= import('./document.ts').then(({ createDocument }) => createDocument(router, options)));
  return {
    value,
    response: async () => ({
      status: 200,
      headers: [['content-type', 'application/json']],
      body: await (json ??= value().then((document) => JSON.stringify(document))),
    }),
  };
}
