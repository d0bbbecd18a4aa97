import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import type { HttpRequest, HttpResponse, Header } from 'trpc-gateway';
import Negotiator from 'negotiator';

/** The suffixes of the precompressed files that the build writes. */
const encodingSuffixes = { br: '.br', gzip: '.gz' } as const;
/** Best compression first. */
const encodingsByPreference = ['br', 'gzip'] as const;

/**
 * Blocks loading from, sending to and framing by other hosts, and runs only scripts of this host. Inline styles are allowed:
 * Scalar 1.72 sets `style` attributes, which nonces do not cover and whose hashes change, and four of its libraries add style
 * elements without a nonce. Inline styles cannot load anything under this policy.
 */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'unsafe-inline'",
  "connect-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

interface Representation {
  readonly bytes: Uint8Array;
  readonly etag: string;
}

/** The URLs that the page contains, relative to it. */
export interface PageUrls {
  /** Where its files are, with a slash at the end. */
  readonly files: string;
  readonly document: string;
}

/** Responds to GET and HEAD with a file of the page. */
export type PageFile = (request: HttpRequest, name: string, type: string) => Promise<HttpResponse>;

/**
 * Serves the files of a folder in the encoding that the request prefers. Files are read on first use and stay in memory:
 * several megabytes, about one compressed. Responses have `Cache-Control: no-cache` (RFC 9111 §5.2.2.4), so browsers
 * revalidate each time: after an upgrade the same name has another content.
 * @param folder Default: `page/` beside this file. In a bundle it is beside the bundle's file, and the build adds Scalar's
 * file and the compressed forms.
 */
export function createPageFiles(urls: PageUrls, folder: URL = new URL('./page/', import.meta.url)): PageFile {
  const listing = readdir(folder);
  const representations = new Map<string, Promise<Representation>>();

  async function load(file: string): Promise<Representation> {
    const isInFolder = (await listing).includes(file);
    // Only from the sources is the script not in the folder. The published package does not have the file below.
    const contents = await readFile(
      isInFolder ? new URL(file, folder) : await (await import('./fetchScalar.ts')).fetchScalar(),
    );
    const bytes = file === 'index.html' ? withUrls(contents, urls) : contents;
    return { bytes, etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"` };
  }

  return async (request, name, type) => {
    const negotiator = new Negotiator({ headers: { 'accept-encoding': request.header('accept-encoding') } });
    const acceptedEncodings = new Set(negotiator.encodings([...encodingsByPreference]));
    const ifNoneMatch = request.header('if-none-match');
    const files = await listing;
    const encoding = encodingsByPreference.find(
      (each) => acceptedEncodings.has(each) && files.includes(name + encodingSuffixes[each]),
    );
    const file = encoding === undefined ? name : name + encodingSuffixes[encoding];
    let reading = representations.get(file);
    if (reading === undefined) {
      reading = load(file);
      representations.set(file, reading);
      // A failed read is retried by the next request.
      reading.catch(() => representations.delete(file));
    }
    const { bytes, etag } = await reading;

    const headers: Header[] = [
      ['etag', etag],
      ['cache-control', 'no-cache'],
      ['vary', 'Accept-Encoding'],
    ];
    if (matchesEtag(ifNoneMatch, etag)) return { status: 304, headers };
    headers.push(['content-type', type]);
    if (encoding !== undefined) headers.push(['content-encoding', encoding]);
    if (type.startsWith('text/html')) {
      headers.push(['content-security-policy', contentSecurityPolicy], ['referrer-policy', 'no-referrer']);
    }
    return { status: 200, headers, body: bytes };
  };
}

/** Writes the URLs into the page, which has those of `/docs` and `/openapi.json`. */
const withUrls = (page: Buffer, { document, files }: PageUrls): Buffer =>
  Buffer.from(
    page.toString().replaceAll('"docs/', `"${files}`).replaceAll('"openapi.json"', `"${document}"`),
  );

/** Compares `If-None-Match` with the ETag, weakly (RFC 9110 §13.1.2): a proxy may have turned it into a weak ETag. */
function matchesEtag(ifNoneMatch: string | undefined, etag: string): boolean {
  return (ifNoneMatch ?? '').split(',').some((each) => ['*', etag].includes(each.trim().replace(/^W\//, '')));
}
