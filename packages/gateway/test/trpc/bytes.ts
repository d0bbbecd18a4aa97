/** The request header that selects JSON lines. */
export const lines = { 'trpc-accept': 'application/jsonl' };

/** One request that is sent to both servers. */
export interface Row {
  readonly name: string;
  readonly method: string;
  /** The path below `/trpc`, with its leading slash, and the query. */
  readonly target: string;
  readonly headers?: Headers;
  readonly body?: string | Uint8Array;
  /** The limit of the body of both servers, in bytes. */
  readonly maxBodySize?: number;
}

type Headers = readonly (readonly [name: string, value: string])[];
const type = (value: string): Headers => [['Content-Type', value]];
const json = type('application/json');
const octets = type('application/octet-stream');
const inputQuery = (input: unknown) => `input=${encodeURIComponent(JSON.stringify(input))}`;
const get = (name: string, target: string, headers: Headers = []): Row => ({
  name,
  method: 'GET',
  target,
  headers,
});
const post = (name: string, target: string, body: Row['body'], headers = json): Row => ({
  name,
  method: 'POST',
  target,
  headers,
  ...(body !== undefined && { body }),
});
const tooLarge = (row: Row): Row => ({ ...row, maxBodySize: 100 });

/** Requests with what adapters read or write: `sameResponses.test.ts` beside the protocol compares the rest in process. */
export const rows: readonly Row[] = [
  get('a query beyond ASCII', `/hello?${inputQuery({ name: 'ü 🐶 \u2028' })}`),
  post('a mutation', '/write', '{"name":"Rex"}'),
  post('a mutation with an empty body', '/write', ''),
  post('a mutation whose body is not UTF-8', '/write', Buffer.from('{"name":"\u00ff"}', 'latin1')),
  post('a mutation with a large body', '/write', JSON.stringify({ name: 'x'.repeat(200_000) })),
  post('a mutation without a media type or a body', '/touch', undefined, []),
  post(
    'a form',
    '/upload',
    '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--x--\r\n',
    type('multipart/form-data; boundary=x'),
  ),
  post('bytes', '/bytes', new Uint8Array(1000), octets),
  post('no bytes', '/bytes', '', octets),
  { name: 'HEAD of a query', method: 'HEAD', target: '/hello' },
  get('a path whose percent-encoding is not UTF-8', '/%ff'),
  get('a query whose Content-Type is sent twice', '/hello', [...json, ...type('text/plain')]),
  post('a mutation whose Content-Type is sent twice', '/write', '{"name":"Rex"}', [
    ...json,
    ...type('text/plain'),
  ]),
  get(
    'JSON lines',
    `/hello?batch=1&${inputQuery({ 0: { name: 'ü 🐶 \u2028 "\\ \0' } })}`,
    Object.entries(lines),
  ),
  get('server-sent events', `/count?${inputQuery({ to: 1000 })}`),
  get('a header beyond ASCII', '/hello', [['X-Name', 'a\u00fcb']]),
  tooLarge(post('a body too large', '/write', JSON.stringify({ name: 'x'.repeat(200) }))),
  tooLarge(post('a batch whose body is too large', '/write,write?batch=1', 'x'.repeat(200))),
  tooLarge(post('a body too large for a procedure that reads none', '/touch', 'x'.repeat(200))),
  tooLarge(post('a body too large for an unknown procedure', '/missing', 'x'.repeat(200))),
  tooLarge(post('bytes that are too many', '/bytes', new Uint8Array(200), octets)),
];
