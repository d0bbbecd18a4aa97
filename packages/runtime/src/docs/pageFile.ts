import type { Header, HttpRequest, HttpResponse } from 'trpc-gateway';

/**
 * Runs only scripts of this host, and allows no other host. Scalar 1.72 needs inline styles, which cannot load anything: its
 * `style` attributes take no nonce and change their hashes, and four of its libraries add style elements.
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

type Bytes = Uint8Array<ArrayBuffer>;

/** A file of the page, which is loaded on the first request. */
export interface PageSource {
  readonly type: 'html' | 'javascript';
  readonly load: () => Promise<Bytes>;
  /** Whether it is compressed by gzip. Clients that do not accept gzip get it decompressed. */
  readonly isGzipped?: boolean;
}

/** Returns the route of a file, kept in memory. `no-cache` (RFC 9111 §5.2.2.4): upgrades keep its name. */
export function pageFile({ type, load, isGzipped = false }: PageSource) {
  const stored = retried(() => load().then(withEtag));
  const decompressed = retried(() => load().then(gunzip).then(withEtag));

  return async (request: HttpRequest): Promise<HttpResponse> => {
    const ifNoneMatch = request.header('if-none-match');
    const sendsGzip = isGzipped && (await acceptsGzip(request.header('accept-encoding')));
    const { bytes, etag } = await (isGzipped && !sendsGzip ? decompressed() : stored());

    const headers: Header[] = [
      ['etag', etag],
      ['cache-control', 'no-cache'],
      ['vary', 'Accept-Encoding'],
    ];
    if (matchesEtag(ifNoneMatch, etag)) return { status: 304, headers };
    headers.push(['content-type', `text/${type}; charset=utf-8`]);
    if (sendsGzip) headers.push(['content-encoding', 'gzip']);
    if (type === 'html') {
      headers.push(['content-security-policy', contentSecurityPolicy], ['referrer-policy', 'no-referrer']);
    }
    return { status: 200, headers, body: bytes };
  };
}

/** Returns a function that loads a value once. A failed load is retried by the next call. */
function retried<Value>(load: () => Promise<Value>): () => Promise<Value> {
  let loading: Promise<Value> | undefined;
  return () =>
    (loading ??= load().catch((error: unknown) => {
      loading = undefined;
      throw error;
    }));
}

async function acceptsGzip(accepted: string | undefined): Promise<boolean> {
  const { default: Negotiator } = await import('negotiator');
  const negotiator = new Negotiator({ headers: { 'accept-encoding': accepted } });
  return negotiator.encoding(['gzip', 'identity']) === 'gzip';
}

async function gunzip(bytes: Bytes): Promise<Bytes> {
  const decompression = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Uint8Array(await new Response(decompression).arrayBuffer());
}

async function withEtag(bytes: Bytes) {
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return { bytes, etag: `"${btoa(String.fromCharCode(...hash)).slice(0, 22)}"` };
}

/** Compares `If-None-Match` with the ETag, weakly (RFC 9110 §13.1.2): a proxy may have turned it into a weak ETag. */
function matchesEtag(ifNoneMatch: string | undefined, etag: string): boolean {
  return (ifNoneMatch ?? '').split(',').some((each) => ['*', etag].includes(each.trim().replace(/^W\//, '')));
}
