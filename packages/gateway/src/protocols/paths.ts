import type { LinkBase } from '../operations/deprecation.ts';
import type { ProtocolName } from '../calls/requestContext.ts';
import { formatValue } from '../http/formatValue.ts';
import { GatewayError } from '../checks/gatewayError.ts';
import type { Procedure } from '../procedures/procedure.ts';

export type RoutePaths = ReadonlyMap<string, unknown>;

/** The paths at which the protocols and the document are served. Base paths have no trailing slash. */
export interface Paths {
  readonly restBasePath: string;
  readonly trpcBasePath: string;
  readonly documentPath: string;
  /** `undefined` if there are no tools. */
  readonly mcpPath?: string | undefined;
  /** Whether REST paths match in any case, and with a slash at their end. */
  readonly areLenient: boolean;
}

type PathOptions = { readonly [Name in Exclude<keyof Paths, 'areLenient'>]?: Paths[Name] | undefined } & {
  readonly compatibility?: unknown;
};

/** Reads the paths. @throws {GatewayError} without a leading slash, and if REST and tRPC share a base path */
export function readPaths(options: PathOptions): Paths {
  const { documentPath = '/openapi.json', restBasePath = '/v1', trpcBasePath = '/trpc' } = options;
  const { compatibility, mcpPath } = options;
  const named = { restBasePath, trpcBasePath, 'document.path': documentPath, mcpPath };
  for (const [name, path] of Object.entries(named)) {
    if (path === undefined || path.startsWith('/')) continue;
    throw new GatewayError(`${name} is "${path}"; it must start with a slash, such as "/${path}".`);
  }
  const paths: Paths = {
    documentPath,
    restBasePath: trimTrailingSlashes(restBasePath),
    trpcBasePath: trimTrailingSlashes(trpcBasePath),
    mcpPath,
    areLenient: compatibility !== undefined,
  };
  if (paths.restBasePath !== paths.trpcBasePath) return paths;
  throw new GatewayError(
    `REST and tRPC are both served below "${paths.restBasePath}". Give one of them another base path.`,
  );
}

/** Checks that no route hides a procedure. @throws {GatewayError} if one is at the path of a route */
export function requireFreePaths(
  routes: RoutePaths,
  { trpcBasePath }: Paths,
  procedures: readonly Pick<Procedure, 'path'>[],
): void {
  const paths = procedures.map(({ path }) => path).filter((path) => routes.has(`${trpcBasePath}/${path}`));
  if (paths.length === 0) return;
  throw new GatewayError(
    `The paths of the procedures "${paths.join('", "')}" below "${trpcBasePath}" are also paths of routes. Give the routes other paths.`,
  );
}

/** Base for parsing a `publicUrl` that is a path. */
const anyOrigin = 'http://path.invalid';

/**
 * Returns the prefixes of links: `publicUrl` without a trailing slash (`origin`), and with the REST base path (`rest`).
 * @throws {GatewayError} for a `publicUrl` that is no absolute URL or path, or overlaps with the REST base path
 */
export function createLinkBase(publicUrl: string | undefined = '/', restBasePath: string): LinkBase {
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
  const isRepeated = publicPath !== '' && restBasePath.startsWith(`${publicPath}/`);
  if (isRepeated || (restBasePath !== '' && publicPath.endsWith(restBasePath))) {
    const both = isRepeated ? publicPath : restBasePath;
    throw new GatewayError(
      `publicUrl is ${publicUrl}, to which links add restBasePath "${restBasePath}": their paths would begin with "${publicPath}${restBasePath}". Remove ${both} from restBasePath if the proxy or the framework removes it from requests, otherwise from publicUrl.`,
    );
  }
  return { origin, rest: `${origin}${restBasePath}` };
}

/**
 * Maps a path to its route pattern, a metric label of low cardinality: `/v1/pets/{petId}`, `/trpc/{path}`, or a route.
 * @param restRouteOf returns the pattern of a REST operation, without the base path
 */
export function createRouteOf(
  { mcpPath, restBasePath, trpcBasePath }: Paths,
  routes: RoutePaths,
  restRouteOf: (path: string) => string | undefined,
): (protocol: ProtocolName, path: string) => string | undefined {
  return (protocol, path) => {
    if (protocol === 'other') return routes.has(path) ? path : undefined;
    if (protocol === 'mcp') return mcpPath;
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
