import type { LinkBase } from '../openapi/deprecation.ts';
import type { ProtocolName } from '../policies/requestScope.ts';
import type { RouteTable } from '../policies/routes.ts';
import { formatValue } from '../http/formatValue.ts';
import { GatewayError } from '../procedures/gatewayError.ts';
import type { Procedure } from '../procedures/procedures.ts';

interface PathOptions {
  readonly restBasePath?: string;
  readonly rpcBasePath?: string;
  readonly documentPath?: string;
}

/** Where the protocols and the document are served. Base paths have no slash at their end. */
export interface Paths {
  readonly restBasePath: string;
  readonly rpcBasePath: string;
  readonly documentPath: string;
}

/**
 * @throws {GatewayError} for a path without a slash in front, which plain JavaScript can give, and for two things at
 *   one path
 */
export function pathsOf(options: PathOptions): Paths {
  const { documentPath = '/openapi.json' } = options;
  const paths: readonly (readonly [name: string, path: string | undefined])[] = [
    ['restBasePath', options.restBasePath],
    ['rpcBasePath', options.rpcBasePath],
    ['documentPath', documentPath],
  ];
  for (const [name, path] of paths) {
    if (path === undefined || path.startsWith('/')) continue;
    throw new GatewayError(`${name} is "${path}": it must start with a slash, such as "/${path}".`);
  }
  const restBasePath = withoutSlash(options.restBasePath ?? '/v1');
  const rpcBasePath = withoutSlash(options.rpcBasePath ?? '/trpc');
  if (restBasePath === rpcBasePath) {
    throw new GatewayError(
      `REST and tRPC are both served below "${restBasePath}": give one of them another base path.`,
    );
  }
  return { documentPath, restBasePath, rpcBasePath };
}

/** @throws {GatewayError} where the document or a procedure is served at the path of a route */
export function requireFreePaths(
  routes: Pick<RouteTable<never>, 'has'>,
  { documentPath, rpcBasePath }: Paths,
  procedures: readonly Pick<Procedure, 'path'>[],
): void {
  if (routes.has(documentPath)) {
    throw new GatewayError(
      `"${documentPath}" is the document's path and one of routes: give one of them another path.`,
    );
  }
  const taken = procedures.filter(({ path }) => routes.has(`${rpcBasePath}/${path}`));
  if (taken.length === 0) return;
  throw new GatewayError(
    taken
      .map(
        ({ path }) =>
          `The procedure ${path} is served at "${rpcBasePath}/${path}", which is one of routes: give the route another path.`,
      )
      .join('\n'),
  );
}

/** In front of a `publicUrl` that is a path, to read it as a URL. */
const anyOrigin = 'http://path.invalid';

/**
 * What stands before paths in links and in the document: `publicUrl` without the slash at its end, and the REST base
 * path.
 * @throws {GatewayError} for a `publicUrl` that is neither an absolute URL nor a path, and for one that ends in the
 *   REST base path
 */
export function linksTo(publicUrl: string | undefined, restBasePath: string): LinkBase {
  const origin = publicUrl === undefined ? '' : publicOrigin(publicUrl, restBasePath);
  return { origin, rest: `${origin}${restBasePath}` };
}

function publicOrigin(publicUrl: string, restBasePath: string): string {
  const url = URL.canParse(publicUrl, anyOrigin) ? new URL(publicUrl, anyOrigin) : undefined;
  // "//pets.example" names a host.
  const isPath = publicUrl.startsWith('/') && url?.origin === anyOrigin;
  if (url === undefined || !(isPath || /^https?:\/\//.test(publicUrl)) || /[?#]/.test(publicUrl)) {
    throw new GatewayError(
      `publicUrl is ${formatValue(publicUrl)}; it must be an absolute http or https URL, or a path such as /api, without query or fragment.`,
    );
  }
  const origin = withoutSlash(publicUrl);
  if (restBasePath !== '' && withoutSlash(url.pathname).endsWith(restBasePath)) {
    throw new GatewayError(
      `publicUrl is ${publicUrl}: it must not end in the REST base path "${restBasePath}", which links and the document add to it. Use ${origin.slice(0, -restBasePath.length)}.`,
    );
  }
  return origin;
}

/** Which protocol serves a path; routes may be below a base path. */
export function createProtocolOf(
  { restBasePath, rpcBasePath }: Paths,
  routes: Pick<RouteTable<never>, 'has' | 'paths'>,
): (path: string) => ProtocolName {
  const hasRouteBelow = (base: string) => routes.paths.some((path) => isBelow(path, base));
  const hasRpcRoutes = hasRouteBelow(rpcBasePath);
  const hasRestRoutes = hasRouteBelow(restBasePath);
  // Routes are looked up last: that hashes the path, and there is hardly ever one below a base path.
  return (path) => {
    if (isBelow(path, rpcBasePath)) return hasRpcRoutes && routes.has(path) ? 'other' : 'rpc';
    if (isBelow(path, restBasePath)) return hasRestRoutes && routes.has(path) ? 'other' : 'rest';
    return 'other';
  };
}

/**
 * What a path matches, with few values for a label of metrics: `/v1/pets/{petId}`, `/trpc/{path}`, or a route.
 * @param restRouteOf that of an operation, without the base path
 */
export function createRouteOf(
  { restBasePath, rpcBasePath }: Paths,
  routes: Pick<RouteTable<never>, 'has'>,
  restRouteOf: (path: string) => string | undefined,
): (protocol: ProtocolName, path: string) => string | undefined {
  return (protocol, path) => {
    if (protocol === 'other') return routes.has(path) ? path : undefined;
    if (protocol === 'rpc') return path === rpcBasePath ? path : `${rpcBasePath}/{path}`;
    const route = restRouteOf(path);
    return route && `${restBasePath}${route}`;
  };
}

/** Whether a path is a base path, or below it. */
export const isBelow = (path: string, base: string): boolean =>
  path.startsWith(base) && (path.length === base.length || path[base.length] === '/');

/** A base path without the slash at its end: `/` is `''`. */
const withoutSlash = (path: string) => path.replace(/\/+$/, '');
