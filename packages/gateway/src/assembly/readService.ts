import { schemesOf } from '../auth/authentication.ts';
import { allScopes } from '../auth/scopes.ts';
import { limitsOf } from '../calls/limits.ts';
import { addRoute, metadataRoute, readRoutes } from '../calls/routes.ts';
import { collect, formatProblems, GatewayError } from '../checks/gatewayError.ts';
import { warn } from '../http/warnings.ts';
import { lazyDocument } from '../openapi/document.ts';
import { apiErrors } from '../operations/errorFormat.ts';
import { readOperations } from '../operations/operation.ts';
import { foldCase } from '../operations/pathTemplate.ts';
import type { AnyGatewayOptions } from './options.ts';
import { readProcedures } from '../procedures/procedure.ts';
import { warnOfUnservedTools } from '../protocols/mcpEndpoint.ts';
import { createLinkBase, isBelow, readPaths, requireFreePaths } from '../protocols/paths.ts';

/** The service of a gateway, as read from its options at start: procedures, operations, routes, paths and limits. */
export type ServedService = Awaited<ReturnType<typeof readService>>;

/** @throws {GatewayError} for invalid options, and with a line for each procedure that cannot be served */
export async function readService(options: AnyGatewayOptions) {
  const { errorFormat = apiErrors, router } = options;
  const [schemes, paths, routes] = collect([
    () => schemesOf(options.authentication),
    () => readPaths({ ...options, documentPath: options.document.path, mcpPath: options.mcp?.path }),
    () => readRoutes(options.routes ?? {}),
  ]);
  const { documentPath, mcpPath, restBasePath, trpcBasePath } = paths;
  const links = createLinkBase(options.publicUrl, restBasePath);
  const limits = limitsOf(options);
  addRoute(routes, documentPath, () => document.response());
  if (mcpPath !== undefined) {
    if (routes.has(mcpPath) || mcpPath === trpcBasePath || mcpPath === restBasePath) {
      throw new GatewayError(
        `The tools are served at "${mcpPath}", where another protocol, the document or a route is too. Give them another path, such as mcp({ path: '/tools' }).`,
      );
    }
    // Reserved: `createProtocolOf` selects MCP for it.
    addRoute(routes, mcpPath, () => ({ status: 404, headers: [] }));
  }

  const { procedures, problems } = await readProcedures(router, {
    openapi: options.openapi,
    tools: options.mcp?.tools,
    outputs: options.outputs,
  });
  if (!options.mcp) warnOfUnservedTools(procedures);
  const scopes = allScopes(procedures, schemes);
  for (const { protectedResource } of schemes) {
    if (!protectedResource) continue;
    addRoute(routes, protectedResource.path, metadataRoute(protectedResource, scopes));
  }
  requireFreePaths(routes, paths, procedures);
  const keyOf = (path: string) => (paths.areLenient ? foldCase(path) : path);
  const routePaths = new Set(Array.from(routes.keys(), keyOf));
  const { operations, ...found } = readOperations(procedures, {
    basePath: restBasePath,
    links,
    isTaken: (path) => routePaths.has(keyOf(path)) || isBelow(keyOf(path), keyOf(trpcBasePath)),
    canSpool: options.spool !== undefined,
    operationId: options.document.operationId ?? ((path) => path),
    compatibility: options.compatibility,
  });
  const tools = options.mcp?.read(procedures, limits.maxResponseSize);
  const unserved = [...problems, ...found.problems, ...(tools?.problems ?? [])];
  if (unserved.length > 0) {
    throw new GatewayError(formatProblems(unserved).join('\n'), { problems: unserved });
  }
  for (const warning of formatProblems(found.warnings)) warn(warning);
  const document = lazyDocument({
    operations,
    document: options.document,
    server: links.rest,
    schemes,
    securitySchemes: options.document.securitySchemes,
    isRateLimited: options.rateLimit !== undefined,
    limitsAttempts: options.failedAttempts !== undefined,
    limits,
    errorFormat,
  });
  document.checkIds();
  const uploadBytes = operations.map(({ input }) => input.body?.upload?.maxSize ?? 0);
  return {
    procedures: new Map(procedures.map((procedure) => [procedure.path, procedure])),
    document,
    errorFormat,
    limits,
    links,
    /** Maximum size of a body that is read in chunks, in bytes: that of the largest upload. */
    maxStreamSize: Math.max(limits.maxBodySize, ...uploadBytes),
    operations,
    /** The origin of `publicUrl`; `undefined` if that is a path. */
    ownOrigin: URL.canParse(links.origin) ? new URL(links.origin).origin : undefined,
    paths,
    /** The option `routes`, the document and metadata of schemes. */
    routes,
    schemes,
    /** All scopes that procedures require. */
    scopes,
    tools,
  };
}
