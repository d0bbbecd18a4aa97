export { trpcToOpenApi, trpcToOpenApiErrors } from './trpcToOpenApi.ts';
export { trpcToOpenApiDocument, type TrpcToOpenApiDocumentInfo } from './trpcToOpenApiDocument.ts';
