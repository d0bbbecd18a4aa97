import '../checks/nodeVersion.ts';
export { migrationReport, type ProcedureReport } from './migrationReport.ts';
export { trpcToOpenApi, trpcToOpenApiErrors } from './trpcToOpenApi.ts';
export { trpcToOpenApiDocument, type TrpcToOpenApiDocumentInfo } from './trpcToOpenApiDocument.ts';
