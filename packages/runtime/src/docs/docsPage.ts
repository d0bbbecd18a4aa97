import { posix } from 'node:path';
import type { HttpRequest, HttpResponse } from 'trpc-gateway';
import type { PageFile } from './pageFiles.ts';

export interface DocsPageOptions {
  /** Where the page is. Its files are below it. Default: `/docs`, and `/` redirects to it. */
  readonly path?: string;
  /** Where the OpenAPI document is, as the option `document.path` of the gateway. Default: `/openapi.json`. */
  readonly document?: string;
}

/**
 * Returns the routes of the docs page, which renders the OpenAPI document and sends requests from the browser. The files are
 * loaded on the first request. All URLs in the page are relative, so a proxy may serve it below a path.
 *
 * They are the option `docs` of `run`, or the option `routes` of a gateway that is mounted in another server.
 * @throws {TypeError} for a path that does not begin with `/`, or has other characters than letters, digits, `/`, `_`, `-`, `.`
 */
export function docsPage({ path, document = '/openapi.json' }: DocsPageOptions = {}) {
  const page = checkedPath('path', path ?? '/docs');
  const urls = {
    files: `${posix.basename(page)}/`,
    document: posix.relative(posix.dirname(page), checkedPath('document', document)),
  };
  let loading: Promise<PageFile> | undefined;
  const file = (name: string, type: string) => async (request: HttpRequest) => {
    loading ??= import('./pageFiles.ts').then(({ createPageFiles }) => createPageFiles(urls));
    return (await loading)(request, name, `text/${type}; charset=utf-8`);
  };
  return {
    ...(path === undefined && {
      '/': (): HttpResponse => ({ status: 302, headers: [['location', 'docs']] }),
    }),
    [page]: file('index.html', 'html'),
    [`${page}/start.js`]: file('start.js', 'javascript'),
    [`${page}/scalar.js`]: file('scalar.js', 'javascript'),
  };
}

/** The page contains parts of the paths. */
function checkedPath(option: string, path: string): `/${string}` {
  if (/^(?:\/[\w.-]+)+$/.test(path)) return path as `/${string}`;
  throw new TypeError(
    `docsPage.${option} is ${JSON.stringify(path)}; it must be a path such as "/api/docs", of letters, digits, "_", "-" and ".".`,
  );
}
