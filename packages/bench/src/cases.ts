import { seededAnimal, seededAnimals } from './petStore/animals.ts';
import { notFound, unauthorized } from './petStore/failure.ts';

/** The key that every contender takes (`API_KEY`). */
export const apiKey = 'a-key-to-measure-with';

/** One request over HTTP, as text. */
export interface CaseRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** The response that every contender must send. Ids of creates are written as `0`. */
export interface ExpectedResponse {
  readonly status: number;
  /** The headers that matter; several of one name are joined by ", ". `X-Request-Id` must be there besides. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A request and its response. */
export interface RequestAndResponse {
  readonly request: CaseRequest;
  readonly expected: ExpectedResponse;
}

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
  /** How many connections ask at once. Default: that of `measure.ts`. */
  readonly connections?: number;
};

const authorization = `Bearer ${apiKey}`;
const json = { 'content-type': 'application/json' };
const newPet = JSON.stringify({ name: 'Rex', categoryId: 1, status: 'available' });
const createdPet = JSON.stringify({ id: 0, name: 'Rex', categoryId: 1, status: 'available' });
/** The headers of the deprecated operation for one animal (RFC 9745, RFC 8594, RFC 5829). */
const deprecated = {
  ...json,
  deprecation: '@1795132800',
  sunset: 'Thu, 05 Dec 2030 00:00:00 GMT',
  link: '</v1/pets>; rel="successor-version", </docs>; rel="deprecation"; type="text/html"',
};
const challenge = 'Bearer realm="petstore", error="invalid_token"';
/** The `Vary` that tRPC's adapters add to every response. */
const rpcVary = 'trpc-accept, accept';
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

const batchIds = Array.from({ length: 10 }, (_, index) => index + 1);

/** Ten calls of `getPet`, each of another animal, and their responses as JSON and as JSON lines in tRPC's own order. */
const batch = {
  request: get(
    `/trpc/${batchIds.map(() => 'getPet').join(',')}?batch=1&` +
      inputOf(Object.fromEntries(batchIds.map((petId, index) => [index, { petId }]))),
  ),
  body: batchIds.map((id) => ({ result: { data: seededAnimal(id) } })),
  lines: [
    `{${batchIds.map((_, index) => `"${index}":[[0],[null,0,${index}]]`).join(',')}}`,
    ...batchIds.map((_, index) => `[${index},0,[[{"result":0}],["result",0,${index + 10}]]]`),
    ...batchIds.map((_, index) => `[${index + 10},0,[[{"data":0}],["data",0,${index + 20}]]]`),
    ...batchIds.map((id, index) => `[${index + 20},0,[[${JSON.stringify(seededAnimal(id))}]]]`),
  ]
    .map((line) => `${line}\n`)
    .join(''),
};

const unknownProcedure = {
  error: {
    message: 'No procedure found on path "getAnimal"',
    code: -32_004,
    data: { code: 'NOT_FOUND', httpStatus: 404, path: 'getAnimal' },
  },
};

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

/** The cases that are answered with an error: of each contender, they are compared with its own GET. */
export const errorCases: readonly string[] = ['unauthorized', 'notFound', 'unknownProcedure'];

/** Everything that is measured, in the order in which it is shown. */
export const cases: readonly Case[] = [
  http('get', 'GET one', getPet, responds(200, deprecated, seededAnimal(500))),
  http(
    'list20',
    'GET list of 20',
    get('/v1/pets?limit=20'),
    responds(
      200,
      { ...json, link: '</v1/pets?limit=20&cursor=20>; rel="next"' },
      seededAnimals().slice(0, 20),
    ),
  ),
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
  http('batch10', 'tRPC batch of 10', batch.request, responds(200, rpcHeaders, batch.body)),
  http(
    'lines',
    'JSON lines, batch of 10',
    get(batch.request.path, { 'trpc-accept': 'application/jsonl' }),
    responds(200, rpcHeaders, batch.lines),
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
    'unknownProcedure',
    'tRPC 404, unknown procedure',
    get(`/trpc/getAnimal?${inputOf({ petId: 500 })}`),
    responds(404, rpcHeaders, unknownProcedure),
  ),
];

/** A call and a batch in oRPC's own protocol, as its client sends them. */
export const orpcRequests: Readonly<Record<string, RequestAndResponse>> = {
  query: {
    request: post('/rpc/getPet', JSON.stringify({ json: { petId: 500 } })),
    expected: responds(200, json, { json: seededAnimal(500) }),
  },
  batch10: {
    request: {
      ...post(
        '/rpc/getPet/__batch__',
        JSON.stringify(
          batchIds.map((petId) => ({
            id: String(petId),
            kind: 'request',
            json: {
              method: 'POST',
              url: '/rpc/getPet',
              headers: {},
              bodyHint: 'json',
              body: { json: { petId } },
            },
          })),
        ),
      ),
      headers: { authorization, ...json, 'orpc-batch': 'buffered' },
    },
    expected: responds(
      207,
      json,
      batchIds.map((id) => ({
        id: String(id),
        kind: 'response',
        json: { status: 200, headers: {}, bodyHint: 'json', body: { json: seededAnimal(id) } },
      })),
    ),
  },
};
