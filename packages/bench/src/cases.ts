import { seededAnimal, seededAnimals } from './petStore/animals.ts';
import { methodNotSupported, notFound, unauthorized } from './petStore/failure.ts';
import { allow, challenge, deprecation, rpcVary } from './petStore/headers.ts';

/** The key that every contender takes (`API_KEY`). */
export const apiKey = 'a-key-to-measure-with';

/** One request over HTTP, as text. */
export interface CaseRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /**
   * For MCP: the load sends the body with another number in place of the `1` in `"id":1` each time, and where the request
   * has the session `session-1`, with each of this many in turn (`session-0` and on).
   */
  readonly sessions?: number;
}

/** The response that every contender must send. Ids of creates are written as `0`. */
export interface ExpectedResponse {
  readonly status: number;
  /** The headers that matter; several of one name are joined by ", ". `X-Request-Id` must be there besides. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A request and its response. */
interface RequestAndResponse {
  readonly request: CaseRequest;
  readonly expected: ExpectedResponse;
}

/** What a contender with its own protocol receives in place of the case's request or call. */
export type OwnRequest = RequestAndResponse | Pick<SocketCase, 'path' | 'message' | 'response'>;

interface HttpCase extends RequestAndResponse {
  readonly kind: 'http';
  /** Further requests, which the load sends in turn with the first one. */
  readonly others?: readonly RequestAndResponse[];
}

/** A call over a WebSocket that is open: many at once, on many sockets. */
interface SocketCase {
  readonly kind: 'socket';
  readonly path: string;
  /** A call and its response, by the call's id. */
  readonly message: (id: number) => string;
  readonly response: (id: number) => string;
}

export type Case = (HttpCase | SocketCase) & {
  readonly name: string;
  readonly title: string;
  /** The unit that is counted, and how many of them one request is. */
  readonly unit: 'requests' | 'calls' | 'events';
  readonly perRequest: number;
  /** How many connections or sockets ask at once. Default: those of `measure.ts`. */
  readonly connections?: number;
  /** How many calls each socket has open. Default: that of `measure.ts`. */
  readonly callsOpen?: number;
};

const authorization = `Bearer ${apiKey}`;
const json = { 'content-type': 'application/json' };
const newPet = JSON.stringify({ name: 'Rex', categoryId: 1, status: 'available' });
const createdPet = JSON.stringify({ id: 0, name: 'Rex', categoryId: 1, status: 'available' });
const links = deprecation.filter(([name]) => name === 'link').map(([, value]) => value);
const deprecated = { ...json, ...Object.fromEntries(deprecation), link: links.join(', ') };
const eventsPerStream = 1_000;

const get = (path: string, headers: Readonly<Record<string, string>> = {}): CaseRequest => ({
  method: 'GET',
  path,
  headers: { authorization, ...headers },
});

const post = (path: string, body: string): CaseRequest => ({
  method: 'POST',
  path,
  headers: { authorization, ...json },
  body,
});

const getPet = get('/v1/pets/500');

const inputOf = (input: unknown) => `input=${encodeURIComponent(JSON.stringify(input))}`;

/** A batch of calls of `getPet`, each of another animal. */
function batchOf(size: number): { readonly request: CaseRequest; readonly body: string } {
  const ids = Array.from({ length: size }, (_, index) => index + 1);
  const input = Object.fromEntries(ids.map((petId, index) => [index, { petId }]));
  const responses = ids.map((id) => ({ result: { data: seededAnimal(id) } }));
  return {
    request: get(`/trpc/${ids.map(() => 'getPet').join(',')}?batch=1&${inputOf(input)}`),
    body: JSON.stringify(responses),
  };
}

/** The response to `batchOf` as JSON lines, in tRPC's own order. */
function linesOf(size: number): string {
  const indexes = Array.from({ length: size }, (_, index) => index);
  const parts = [
    `{${indexes.map((index) => `"${index}":[[0],[null,0,${index}]]`).join(',')}}`,
    ...indexes.map((index) => `[${index},0,[[{"result":0}],["result",0,${index + size}]]]`),
    ...indexes.map((index) => `[${index + size},0,[[{"data":0}],["data",0,${index + 2 * size}]]]`),
    ...indexes.map((index) => `[${index + 2 * size},0,[[${JSON.stringify(seededAnimal(index + 1))}]]]`),
  ];
  return parts.map((part) => `${part}\n`).join('');
}

const wrongMethod = 'Unsupported POST-request to query procedure at path "getPet"';

const rpcError = (path: string, httpStatus: number, code: string, number: number, message: string) =>
  JSON.stringify({ error: { message, code: number, data: { code, httpStatus, path } } });

/** Ten calls in a batch of oRPC's own, as its client sends it: in one response, or streamed. */
function orpcBatch(mode: 'buffered' | 'streaming'): OwnRequest {
  const ids = Array.from({ length: 10 }, (_, index) => index + 1);
  const calls = ids.map((petId) => ({
    id: String(petId),
    kind: 'request',
    json: { method: 'POST', url: '/rpc/getPet', headers: {}, bodyHint: 'json', body: { json: { petId } } },
  }));
  const request = post('/rpc/getPet/__batch__', JSON.stringify(calls));
  const outcomes = ids.map((id) =>
    JSON.stringify({
      id: String(id),
      kind: 'response',
      json: { status: 200, headers: {}, bodyHint: 'json', body: { json: seededAnimal(id) } },
    }),
  );
  const response =
    mode === 'buffered'
      ? { headers: json, body: `[${outcomes.join(',')}]` }
      : {
          headers: { 'content-type': 'application/octet-stream' },
          body: Buffer.concat(outcomes.map(lengthPrefixed)).toString(),
        };
  return {
    request: { ...request, headers: { ...request.headers, 'orpc-batch': mode } },
    expected: { status: 207, ...response },
  };
}

/** A message of a streamed batch of oRPC: the length in four bytes, then the text. */
function lengthPrefixed(text: string): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(Buffer.byteLength(text));
  return Buffer.concat([length, Buffer.from(text)]);
}

/** What the cases have in common that count requests. */
export const oneRequest = { kind: 'http', unit: 'requests', perRequest: 1 } as const;
const rpcHeaders = { ...json, vary: rpcVary };

const responds = (status: number, headers: ExpectedResponse['headers'], body: unknown): ExpectedResponse => ({
  status,
  headers,
  body: typeof body === 'string' ? body : JSON.stringify(body),
});

const http = (name: string, title: string, request: CaseRequest, expected: ExpectedResponse): Case => ({
  ...oneRequest,
  name,
  title,
  request,
  expected,
});

function listOf(limit: number): Case {
  const link = `</v1/pets?limit=${limit}&cursor=${limit}>; rel="next"`;
  const animals = seededAnimals().slice(0, limit);
  const request = get(`/v1/pets?limit=${limit}`);
  return http(`list${limit}`, `GET list of ${limit}`, request, responds(200, { ...json, link }, animals));
}

function batchCase(size: number): Case {
  const { request, body } = batchOf(size);
  return http(`batch${size}`, `tRPC batch of ${size}`, request, responds(200, rpcHeaders, body));
}

/**
 * The sessions in which the official MCP SDK serves the case `mcp`: as many as the load has connections, since a session is
 * that of one client. In one session, a response costs more, the more requests are open.
 */
export const mcpSessions = 64;

/** A call of a tool in the form of MCP 2025-11-25, with the input of the case `create`. */
const toolCall: RequestAndResponse = {
  request: {
    method: 'POST',
    path: '/mcp',
    headers: {
      authorization,
      ...json,
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-11-25',
    },
    body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"createPet","arguments":${newPet}}}`,
    sessions: mcpSessions,
  },
  expected: {
    status: 200,
    headers: json,
    body: `{"jsonrpc":"2.0","result":{"content":[{"type":"text","text":${JSON.stringify(createdPet)}}],"structuredContent":${createdPet}},"id":1}`,
  },
};

/** The cases that are answered with an error: of each contender, they are compared with its own GET. */
export const errorCases: readonly string[] = [
  'unauthorized',
  'notFound',
  'unknownMethod',
  'unknownProcedure',
  'wrongMethod',
];

/** Everything that is measured, in the order in which it is shown. */
export const cases: readonly Case[] = [
  http('get', 'GET one', getPet, responds(200, deprecated, seededAnimal(500))),
  listOf(20),
  listOf(100),
  http(
    'create',
    'POST',
    post('/v1/pets', newPet),
    responds(201, { ...json, location: '/v1/pets/0' }, createdPet),
  ),
  http(
    'query',
    'tRPC query',
    get(`/trpc/getPet?${inputOf({ petId: 500 })}`),
    responds(200, rpcHeaders, { result: { data: seededAnimal(500) } }),
  ),
  http(
    'mutation',
    'tRPC mutation',
    post('/trpc/createPet', newPet),
    responds(200, rpcHeaders, `{"result":{"data":${createdPet}}}`),
  ),
  { ...oneRequest, ...toolCall, name: 'mcp', title: 'MCP tools/call' },
  batchCase(10),
  batchCase(100),
  http(
    'lines',
    'JSON lines, batch of 10',
    get(batchOf(10).request.path, { 'trpc-accept': 'application/jsonl' }),
    responds(200, rpcHeaders, linesOf(10)),
  ),
  {
    kind: 'socket',
    name: 'socket',
    title: 'WebSocket call',
    unit: 'calls',
    perRequest: 1,
    path: '/trpc',
    message: (id) =>
      JSON.stringify({ id, method: 'query', params: { path: 'getPet', input: { petId: 500 } } }),
    response: (id) => JSON.stringify({ id, result: { type: 'data', data: seededAnimal(500) } }),
  },
  {
    kind: 'http',
    name: 'events',
    title: 'SSE, streams of 1,000 events',
    unit: 'events',
    perRequest: eventsPerStream,
    request: get(`/trpc/watchPets?${inputOf({ count: eventsPerStream })}`, { accept: 'text/event-stream' }),
    expected: responds(
      200,
      { 'content-type': 'text/event-stream', vary: rpcVary },
      [
        'event: connected\ndata: {}\n\n\n',
        ...seededAnimals()
          .slice(0, eventsPerStream)
          .map((animal) => `data: ${JSON.stringify(animal)}\n\n\n`),
        'event: return\ndata: \n\n\n',
      ].join(''),
    ),
  },
  http(
    'unauthorized',
    '401',
    { ...getPet, headers: { authorization: 'Bearer an-unknown-key' } },
    responds(401, { ...json, 'www-authenticate': challenge }, unauthorized),
  ),
  http('notFound', '404', get('/v1/pets/999999999'), responds(404, deprecated, notFound)),
  http(
    'unknownMethod',
    '405',
    { ...getPet, method: 'DELETE' },
    responds(405, { ...json, allow }, methodNotSupported),
  ),
  http(
    'unknownProcedure',
    'tRPC 404, unknown procedure',
    get(`/trpc/getAnimal?${inputOf({ petId: 500 })}`),
    responds(
      404,
      rpcHeaders,
      rpcError('getAnimal', 404, 'NOT_FOUND', -32_004, 'No procedure found on path "getAnimal"'),
    ),
  ),
  http(
    'wrongMethod',
    'tRPC 405, POST to a query',
    post('/trpc/getPet', JSON.stringify({ petId: 500 })),
    responds(
      405,
      { ...rpcHeaders, allow: 'GET' },
      rpcError('getPet', 405, 'METHOD_NOT_SUPPORTED', -32_005, wrongMethod),
    ),
  ),
];

const orpcCall = (name: string, input: object, output: string): OwnRequest => ({
  request: post(`/rpc/${name}`, JSON.stringify({ json: input })),
  expected: { status: 200, headers: json, body: `{"json":${output}}` },
});

/** The calls in oRPC's own protocol, as its client sends them. */
export const orpcRequests: Readonly<Record<string, OwnRequest>> = {
  query: orpcCall('getPet', { petId: 500 }, JSON.stringify(seededAnimal(500))),
  mutation: orpcCall('createPet', JSON.parse(newPet) as object, createdPet),
  batch10: orpcBatch('buffered'),
  lines: orpcBatch('streaming'),
};

/** The case `mcp` in the sessions that the server of the official SDK has opened. */
export const mcpSessionRequests: Readonly<Record<string, OwnRequest>> = {
  mcp: {
    request: { ...toolCall.request, headers: { ...toolCall.request.headers, 'mcp-session-id': 'session-1' } },
    expected: toolCall.expected,
  },
};
