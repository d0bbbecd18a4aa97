import type { Pages } from '../options.ts';
import { pageFile } from './pageFile.ts';

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
export function docsPage({ path, document = '/openapi.json' }: DocsPageOptions = {}): Pages {
  const page = checkedPath('path', path ?? '/docs');
  const documentUrl = relativeUrl(page, checkedPath('document', document));
  const files = async () => (await import('#docs-page')).default;
  const encode = (text: string) => new TextEncoder().encode(text);
  return {
    ...(path === undefined && {
      '/': () => ({ status: 302, headers: [['location', 'docs']] }),
    }),
    // The page has the URLs of `/docs` and `/openapi.json`.
    [page]: pageFile({
      type: 'html',
      load: async () =>
        encode(
          (await files()).html
            .replaceAll('"docs/', `"${page.slice(page.lastIndexOf('/') + 1)}/`)
            .replaceAll('"openapi.json"', `"${documentUrl}"`),
        ),
    }),
    [`${page}/start.js`]: pageFile({ type: 'javascript', load: async () => encode((await files()).start) }),
    [`${page}/scalar.js`]: pageFile({
      type: 'javascript',
      load: async () => fromBase64((await files()).scalar),
      isGzipped: true,
    }),
  };
}

/** The page contains parts of the paths. */
function checkedPath(option: string, path: string): `/${string}` {
  if (/^(?:\/[\w.-]+)+$/.test(path)) return path as `/${string}`;
  throw new TypeError(
    `docsPage.${option} is ${JSON.stringify(path)}; it must be a path such as "/api/docs", of letters, digits, "_", "-" and ".".`,
  );
}

/** `Uint8Array.fromBase64` of newer runtimes. `Uint8Array.from` would take ten times as long, 0.15 s. */
function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at += 1) bytes[at] = binary.charCodeAt(at);
  return bytes;
}

/** Returns the shortest URL of a path relative to another, such as `../openapi.json`. Not every host has `node:path`. */
function relativeUrl(from: string, to: string): string {
  const [base, target] = [from.split('/').slice(0, -1), to.split('/')];
  const differsAt = target.findIndex((part, at) => at === target.length - 1 || part !== base[at]);
  return [...base.slice(differsAt).map(() => '..'), ...target.slice(differsAt)].join('/');
}
