import { Failure, malformed, nowhere, unauthorized } from '../petStore/failure.ts';
import { challenge, deprecation, nosniff, noStore, requestId, rpcVary } from '../petStore/headers.ts';
import { isAuthorized } from '../petStore/isAuthorized.ts';
import { createPet, getPet, listPets, nextLink } from '../petStore/operations.ts';
import { answerMutation, answerQuery } from '../petStore/rpc.ts';

// Bun's own server and nothing else, written by hand for this service.

type BunRequest = Request & { readonly params: Readonly<Record<string, string>> };
type Handler = (request: BunRequest) => Response | Promise<Response>;

declare const Bun: {
  serve(options: {
    readonly hostname: string;
    readonly port: number;
    readonly development: false;
    readonly routes: Readonly<Record<string, Handler | Readonly<Record<string, Handler>>>>;
    readonly fetch: Handler;
  }): unknown;
};

function answer(
  status: number,
  body: string,
  id: string,
  headers: readonly (readonly [string, string])[] = [],
): Response {
  return new Response(body, {
    status,
    headers: [
      ['content-type', 'application/json'],
      ['x-content-type-options', nosniff],
      ['cache-control', noStore],
      ['x-request-id', id],
      ...headers,
    ] as [string, string][],
  });
}

const fail = (failure: Failure, id: string) =>
  answer(
    failure.status,
    JSON.stringify(failure),
    id,
    failure === unauthorized ? [['www-authenticate', challenge]] : [],
  );

/** Calls a handler with the request's id once its credential is checked. */
const guarded =
  (handler: (request: BunRequest, id: string) => Response | Promise<Response>): Handler =>
  (request) => {
    const id = requestId(request.headers.get('x-request-id'));
    return isAuthorized(request.headers.get('authorization')) ? handler(request, id) : fail(unauthorized, id);
  };

/** An integer as strictly as the gateway reads one; what is none is left to the schema. */
const integer = (text: string | null | undefined) =>
  text === null || text === undefined ? undefined : /^-?\d+$/.test(text) ? Number(text) : text;

const queryOf = ({ url }: Request) => {
  const at = url.indexOf('?');
  return at === -1 ? '' : url.slice(at + 1);
};

const rpcHeaders = [['vary', rpcVary]] as const;

Bun.serve({
  hostname: '127.0.0.1',
  port: Number(process.env['PORT']),
  development: false,
  routes: {
    '/v1/pets/:petId': {
      GET: guarded((request, id) => {
        const animal = getPet({ petId: integer(request.params['petId']) });
        return answer(
          animal instanceof Failure ? animal.status : 200,
          JSON.stringify(animal),
          id,
          deprecation,
        );
      }),
    },
    '/v1/pets': {
      GET: guarded((request, id) => {
        const parameters = new URLSearchParams(queryOf(request));
        const input = {
          limit: integer(parameters.get('limit')),
          status: parameters.get('status') ?? undefined,
          cursor: integer(parameters.get('cursor')),
        };
        const page = listPets(input);
        if (page instanceof Failure) return fail(page, id);
        const link = nextLink(input, page);
        return answer(200, JSON.stringify(page.animals), id, link === undefined ? [] : [['link', link]]);
      }),
      POST: guarded(async (request, id) => {
        const input: unknown = await request.json().catch(() => malformed);
        const animal = input === malformed ? malformed : await createPet(input);
        return animal instanceof Failure
          ? fail(animal, id)
          : answer(201, JSON.stringify(animal), id, [['location', `/v1/pets/${animal.id}`]]);
      }),
    },
    '/trpc/:path': {
      GET: guarded((request, id) => {
        const { status, body } = answerQuery(request.params['path'] ?? '', queryOf(request));
        return answer(status, body, id, rpcHeaders);
      }),
      POST: guarded(async (request, id) => {
        const { status, body } = await answerMutation(request.params['path'] ?? '', await request.text());
        return answer(status, body, id, rpcHeaders);
      }),
    },
  },
  fetch: guarded((_request, id) => fail(nowhere, id)),
});
