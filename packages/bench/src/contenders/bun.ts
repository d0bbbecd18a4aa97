import { Failure, malformed, methodNotSupported, nowhere, unauthorized } from '../petStore/failure.ts';
import { minimalOperations } from '../petStore/minimalOperations.ts';
import { after, type MaybePromise } from '../petStore/resolvers.ts';
import { handwrittenRpc, inputOf, isBatch, petEvents, type RpcResponse } from '../petStore/rpc.ts';

// Bun's own server and nothing else, as minimal as `minimal.ts`.

type BunRequest = Request & { readonly params: Readonly<Record<string, string>> };
type Handler = (request: BunRequest) => MaybePromise<Response>;

declare const Bun: {
  serve(options: {
    readonly hostname: string;
    readonly port: number;
    readonly development: false;
    readonly routes: Readonly<Record<string, Handler | Readonly<Record<string, Handler>>>>;
    readonly fetch: Handler;
  }): unknown;
};

const { getPet, listPets, createPet } = minimalOperations;
const rpc = handwrittenRpc(minimalOperations);
const authorization = `Bearer ${process.env['API_KEY']}`;

const respond = (status: number, body: string, type = 'application/json') =>
  new Response(body, { status, headers: { 'content-type': type } });

const resultResponse = (result: unknown, status = 200) =>
  respond(result instanceof Failure ? result.status : status, JSON.stringify(result));

const rpcResponse = ({ status, body }: RpcResponse) => respond(status, body);

const guarded =
  (handler: Handler): Handler =>
  (request) =>
    request.headers.get('authorization') === authorization ? handler(request) : resultResponse(unauthorized);

const number = (text: string | null) => (text === null ? undefined : Number(text));

const queryOf = ({ url }: Request) => {
  const at = url.indexOf('?');
  return at === -1 ? '' : url.slice(at + 1);
};

const pathOf = ({ params }: BunRequest) => params['path'] ?? '';

Bun.serve({
  hostname: '127.0.0.1',
  port: Number(process.env['PORT']),
  development: false,
  routes: {
    '/v1/pets/:petId': {
      GET: guarded(({ params }) =>
        after(getPet({ petId: Number(params['petId']) }), (pet) => resultResponse(pet)),
      ),
      DELETE: guarded(() => resultResponse(methodNotSupported)),
    },
    '/v1/pets': {
      GET: guarded((request) => {
        const parameters = new URLSearchParams(queryOf(request));
        const limit = number(parameters.get('limit'));
        const cursor = number(parameters.get('cursor'));
        return after(listPets({ limit, cursor, status: parameters.get('status') ?? undefined }), (page) =>
          resultResponse(page instanceof Failure ? page : page.records),
        );
      }),
      POST: guarded(async (request) => {
        const input: unknown = await request.json().catch(() => malformed);
        return resultResponse(input === malformed ? malformed : await createPet(input), 201);
      }),
    },
    '/trpc/watchPets': {
      GET: guarded((request) =>
        respond(200, [...petEvents(inputOf(queryOf(request)))].join(''), 'text/event-stream'),
      ),
    },
    '/trpc/:path': {
      GET: guarded((request) => {
        const query = queryOf(request);
        return request.headers.get('trpc-accept') === 'application/jsonl'
          ? after(rpc.queryLines(pathOf(request), inputOf(query)), (lines) => respond(200, lines))
          : after(rpc.queryResponse(pathOf(request), inputOf(query), isBatch(query)), rpcResponse);
      }),
      POST: guarded(async (request) =>
        rpcResponse(await rpc.mutationResponse(pathOf(request), await request.text())),
      ),
    },
  },
  fetch: guarded(() => resultResponse(nowhere)),
});
