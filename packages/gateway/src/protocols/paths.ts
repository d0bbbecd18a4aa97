import type { LinkBase } from '../operations/deprecation.ts';
import type { ProtocolName } from '../calls/requestContext.ts';
import { formatValue } from '../http/formatValue.ts';
import { GatewayError } from '../http/gatewayError.ts';
import type { Procedure } from '../procedures/procedures.ts';

interface PathOptions {
  readonly restBasePath?: string;
  readonly trpcBasePath?: string;
  readonly documentPath?: string;
}

/** The routes by path. */
type RoutePaths = ReadonlyMap<string, unknown>;

/** The paths at which the protocols and the document are served. Base paths have no trailing slash. */
export interface Paths {
  readonly restBasePath: string;
  readonly trpcBasePath: string;
  readonly documentPath: string;
}

/**
 * Reads the paths from the options.
 * @throws {GatewayError} for a path without a leading slash (TypeScript rejects it too), and if REST and tRPC share a
 *   base path
 */
export function readPaths(options: PathOptions): Paths {
  const { documentPath = '/openapi.json' } = options;
  const paths: readonly (readonly [name: string, path: string | undefined])[] = [
    ['restBasePath', options.restBasePath],
    ['trpcBasePath', options.trpcBasePath],
    ['documentPath', documentPath],
  ];
  for (const [name, path] of paths) {
    if (path === undefined || path.startsWith('/')) continue;
    throw new GatewayError(`${name} is "${path}"; it must start with a slash, such as "/${path}".`);
  }
  const restBasePath = trimTrailingSlashes(options.restBasePath ?? '/v1');
  const trpcBasePath = trimTrailingSlashes(options.trpcBasePath ?? '/trpc');
  if (restBasePath === trpcBasePath) {
    throw new GatewayError(
      `REST and tRPC are both served below "${restBasePath}". Give one of them another base path.`,
    );
  }
  return { documentPath, restBasePath, trpcBasePath };
}

/**
 * Checks that no route hides a procedure.
 * @throws {GatewayError} if a procedure is served at the path of a route
 */
export function requireFreePaths(
  routes: RoutePaths,
  { trpcBasePath }: Paths,
  procedures: readonly Pick<Procedure, 'path'>[],
): void {
  const taken = procedures.filter(({ path }) => routes.has(`${trpcBasePath}/${path}`));
  if (taken.length === 0) return;
  throw new GatewayError(
    taken
      .map(
        ({ path }) =>
          `Procedure "${path}" is served at "${trpcBasePath}/${path}", which is also the path of a route. Give the route another path.`,
      )
      .join('\n'),
  );
}

/** Base for parsing a `publicUrl` that is a path. */
const anyOrigin = 'http://path.invalid';

/**
 * Returns the prefixes of paths in links and in the document: `publicUrl` without a trailing slash (`origin`), and the
 * same with the REST base path (`rest`).
 * @throws {GatewayError} for a `publicUrl` that is neither an absolute URL nor a path, and for one that overlaps
 *   with the REST base path
 */
export function createLinkBase(publicUrl: string | undefined, restBasePath: string): LinkBase {
  const origin = publicUrl === undefined ? '' : publicOrigin(publicUrl, restBasePath);
  return { origin, rest: `${origin}${restBasePath}` };
}

function publicOrigin(publicUrl: string, restBasePath: string): string {
  const url = URL.canParse(publicUrl, anyOrigin) ? new URL(publicUrl, anyOrigin) : undefined;
  // Not "//pets.example", which is a host.
  const isPath = publicUrl.startsWith('/') && url?.origin === anyOrigin;
  if (url === undefined || !(isPath || /^https?:\/\//.test(publicUrl)) || /[?#]/.test(publicUrl)) {
    throw new GatewayError(
      `publicUrl is ${formatValue(publicUrl)}; it must be an absolute http or https URL, or a path such as /api, without query or fragment.`,
    );
  }
  const origin = trimTrailingSlashes(publicUrl);
  const publicPath = trimTrailingSlashes(url.pathname);
  if (publicPath !== '' && restBasePath.startsWith(`${publicPath}/`)) {
    throw new GatewayError(
      `publicUrl is ${publicUrl}, and restBasePath is "${restBasePath}", which begins with "${publicPath}" too: links would begin with "${publicPath}${restBasePath}". If the proxy or the framework removes ${publicPath}, set restBasePath to "${restBasePath.slice(publicPath.length)}"; if it does not, set publicUrl to ${origin.slice(0, -publicPath.length) || '/'}.`,
    );
  }
  if (restBasePath !== '' && publicPath.endsWith(restBasePath)) {
    throw new GatewayError(
      `publicUrl is ${publicUrl}; it must not end in the REST base path "${restBasePath}", which links and the document add to it. Use ${origin.slice(0, -restBasePath.length)}.`,
    );
  }
  return origin;
}

/** Creates the function that selects the protocol of a path. Routes below a base path take precedence. */
export function createProtocolOf(
  { restBasePath, trpcBasePath }: Paths,
  routes: RoutePaths,
): (path: string) => ProtocolName {
  const hasRouteBelow = (base: string) => [...routes.keys()].some((path) => isBelow(path, base));
  const hasRpcRoutes = hasRouteBelow(trpcBasePath);
  const hasRestRoutes = hasRouteBelow(restBasePath);
  // The look-up of a route hashes the path, so it is skipped unless a route is below a base path, which is rare.
  // `isBelow`, but written out: every request runs it.
  return (path) => {
    const afterTrpc = path[trpcBasePath.length];
    if ((afterTrpc === '/' || afterTrpc === undefined) && path.startsWith(trpcBasePath)) {
      return hasRpcRoutes && routes.has(path) ? 'other' : 'trpc';
    }
    const afterRest = path[restBasePath.length];
    if ((afterRest === '/' || afterRest === undefined) && path.startsWith(restBasePath)) {
      return hasRestRoutes && routes.has(path) ? 'other' : 'rest';
    }
    return 'other';
  };
}

/**
 * Creates the function that maps a path to its route pattern, a label of low cardinality for metrics:
 * `/v1/pets/{petId}`, `/trpc/{path}`, or the path of a route.
 * @param restRouteOf returns the pattern of a REST operation, without the base path
 */
export function createRouteOf(
  { restBasePath, trpcBasePath }: Paths,
  routes: RoutePaths,
  restRouteOf: (path: string) => string | undefined,
): (protocol: ProtocolName, path: string) => string | undefined {
  return (protocol, path) => {
    if (protocol === 'other') return routes.has(path) ? path : undefined;
    if (protocol === 'trpc') return path === trpcBasePath ? path : `${trpcBasePath}/{path}`;
    const route = restRouteOf(path);
    return route && `${restBasePath}${route}`;
  };
}

/** Whether a path is the base path or below it. */
export const isBelow = (path: string, base: string): boolean =>
  path.startsWith(base) && (path.length === base.length || path[base.length] === '/');

/** Removes trailing slashes: `/` becomes `''`. */
const trimTrailingSlashes = (path: string) => path.replace(/\/+$/, '');
