import { Failure, malformed, methodNotSupported, nowhere, unauthorized } from './failure.ts';
import { minimalOperations } from './minimalOperations.ts';
import { after, type MaybePromise } from './resolvers.ts';
import { handwrittenRpc, inputOf, isBatch, petEvents, type RpcResponse } from './rpc.ts';

// The work of `minimal`, for servers without routes or with slower ones.

const { getPet, listPets, createPet } = minimalOperations;
const rpc = handwrittenRpc(minimalOperations);
const authorization = `Bearer ${process.env['API_KEY']}`;
const petPath = '/v1/pets/';
const rpcPath = '/trpc/';

export interface MinimalRequest {
  readonly method: string;
  /** The path and the query. */
  readonly target: string;
  readonly authorization: string | null | undefined;
  /** Whether the client takes JSON lines. */
  readonly takesLines: boolean;
  readonly readBody: () => Promise<string>;
}

interface MinimalResponse extends RpcResponse {
  /** Default: JSON. */
  readonly type?: string;
}

const resultResponse = (result: unknown, status = 200): MinimalResponse => ({
  status: result instanceof Failure ? result.status : status,
  body: JSON.stringify(result),
});

const number = (text: string | null) => (text === null ? undefined : Number(text));

export function respond(request: MinimalRequest): MaybePromise<MinimalResponse> {
  if (request.authorization !== authorization) return resultResponse(unauthorized);
  const { method, target, readBody } = request;
  const end = target.indexOf('?');
  const path = end === -1 ? target : target.slice(0, end);
  if (method === 'GET') return get(path, end === -1 ? '' : target.slice(end + 1), request.takesLines);
  if (method !== 'POST') return resultResponse(path.startsWith(petPath) ? methodNotSupported : nowhere);
  return readBody().then((body) => post(path, body));
}

function get(path: string, query: string, takesLines: boolean): MaybePromise<MinimalResponse> {
  if (path.startsWith(petPath)) {
    return after(getPet({ petId: Number(path.slice(petPath.length)) }), (pet) => resultResponse(pet));
  }
  if (path === '/v1/pets') {
    const parameters = new URLSearchParams(query);
    const limit = number(parameters.get('limit'));
    const cursor = number(parameters.get('cursor'));
    return after(listPets({ limit, cursor, status: parameters.get('status') ?? undefined }), (page) =>
      resultResponse(page instanceof Failure ? page : page.records),
    );
  }
  if (!path.startsWith(rpcPath)) return resultResponse(nowhere);
  const input = inputOf(query);
  if (path === '/trpc/watchPets')
    return { status: 200, body: [...petEvents(input)].join(''), type: 'text/event-stream' };
  const name = path.slice(rpcPath.length);
  if (takesLines) return after(rpc.queryLines(name, input), (body) => ({ status: 200, body }));
  return rpc.queryResponse(name, input, isBatch(query));
}

async function post(path: string, body: string): Promise<MinimalResponse> {
  try {
    if (path === '/v1/pets') return resultResponse(await createPet(JSON.parse(body)), 201);
    if (path.startsWith(rpcPath)) return await rpc.mutationResponse(path.slice(rpcPath.length), body);
  } catch {
    return resultResponse(malformed);
  }
  return resultResponse(nowhere);
}
