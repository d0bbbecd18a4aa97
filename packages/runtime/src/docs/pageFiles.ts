import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import type { HttpRequest, HttpResponse, Header } from '@petstore/gateway';
import Negotiator from 'negotiator';
import { scalarBundle } from './scalarBundle.ts';

/** The encodings that the build compresses to, best first, and how their files' names end. */
const compressed = { br: '.br', gzip: '.gz' } as const;
const encodings = ['br', 'gzip'] as const;

/**
 * Nothing is loaded from another host, sent to one, or framed by one, and only files of this host run. Styles must be
 * let in inline: Scalar 1.72 sets `style` attributes, for which no nonce can stand and no hash that is stable, and four of
 * its libraries add style elements without a nonce. They can load nothing.
 */
const policy = [
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
  readonly tag: string;
}

/** Answers GET and HEAD with a file of the page. */
export type PageFile = (request: HttpRequest, name: string, type: string) => Promise<HttpResponse>;

/**
 * Gives the files of a folder, each in the encoding that its request likes best. They are read when they are asked for,
 * and stay in memory from then on: megabytes, compressed to one. A browser keeps a file and asks each time whether it has
 * changed (RFC 9111 §5.2.2.4): after an upgrade it is another under the same name.
 * @param folder Default: beside this file; and beside the bundle, where the build puts Scalar's file and the compressed
 * forms too.
 */
export function createPageFiles(folder: URL = new URL('./page/', import.meta.url)): PageFile {
  const listing = readdir(folder);
  const read = new Map<string, Promise<Representation>>();

  async function load(file: string): Promise<Representation> {
    const isThere = (await listing).includes(file);
    const bytes = await readFile(isThere ? new URL(file, folder) : scalarBundle());
    return { bytes, tag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"` };
  }

  return async (request, name, type) => {
    const accepted = new Negotiator({ headers: { 'accept-encoding': request.header('accept-encoding') } });
    const likes = new Set(accepted.encodings([...encodings]));
    const ifNoneMatch = request.header('if-none-match');
    const files = await listing;
    const encoding = encodings.find((each) => likes.has(each) && files.includes(name + compressed[each]));
    const file = encoding === undefined ? name : name + compressed[encoding];
    let reading = read.get(file);
    if (reading === undefined) {
      reading = load(file);
      read.set(file, reading);
      // A file that could not be read once may be read the next time.
      reading.catch(() => read.delete(file));
    }
    const { bytes, tag } = await reading;

    const headers: Header[] = [
      ['etag', tag],
      ['cache-control', 'no-cache'],
      ['vary', 'Accept-Encoding'],
    ];
    if (names(ifNoneMatch, tag)) return { status: 304, headers };
    headers.push(['content-type', type]);
    if (encoding !== undefined) headers.push(['content-encoding', encoding]);
    if (type.startsWith('text/html')) {
      headers.push(['content-security-policy', policy], ['referrer-policy', 'no-referrer']);
    }
    return { status: 200, headers, body: bytes };
  };
}

/** Whether `If-None-Match` names the tag, compared weakly (RFC 9110 §13.1.2): a proxy may have made it a weak one. */
function names(ifNoneMatch: string | undefined, tag: string): boolean {
  return (ifNoneMatch ?? '').split(',').some((each) => ['*', tag].includes(each.trim().replace(/^W\//, '')));
}
