import { seededAnimal, seededAnimals } from './petStore/animals.ts';

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

export interface RequestAndResponse {
  readonly request: CaseRequest;
  readonly expected: ExpectedResponse;
}

export interface Case {
  readonly name: string;
  readonly title: string;
  /** The load sends them in turn. */
  readonly requests: readonly RequestAndResponse[];
  /** How many connections ask at once. Default: that of `measure.ts`. */
  readonly connections?: number;
}

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
/** The `Vary` that tRPC's adapters add to every response. */
const rpcVary = 'trpc-accept, accept';

const get = (path: string): CaseRequest => ({ method: 'GET', path, headers: { authorization } });

const post = (path: string, body: string): CaseRequest => ({
  method: 'POST',
  path,
  headers: { authorization, ...json },
  body,
});

const inputOf = (input: unknown) => `input=${encodeURIComponent(JSON.stringify(input))}`;

const batchIds = Array.from({ length: 10 }, (_, index) => index + 1);

/** Ten calls of `getPet`, each of another animal, and their responses. */
const batch = {
  request: get(
    `/trpc/${batchIds.map(() => 'getPet').join(',')}?batch=1&` +
      inputOf(Object.fromEntries(batchIds.map((petId, index) => [index, { petId }]))),
  ),
  body: batchIds.map((id) => ({ result: { data: seededAnimal(id) } })),
};

const rpcHeaders = { ...json, vary: rpcVary };

const responds = (status: number, headers: ExpectedResponse['headers'], body: unknown): ExpectedResponse => ({
  status,
  headers,
  body: typeof body === 'string' ? body : JSON.stringify(body),
});

const http = (name: string, title: string, request: CaseRequest, expected: ExpectedResponse): Case => ({
  name,
  title,
  requests: [{ request, expected }],
});

/** Everything that is measured, in the order in which it is shown. */
export const cases: readonly Case[] = [
  http('get', 'GET one', get('/v1/pets/500'), responds(200, deprecated, seededAnimal(500))),
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
