import { Failure, malformed, nowhere, unauthorized } from './failure.ts';
import { createPet, getPet, listPets } from './minimalOperations.ts';

// The work of `minimal`, for servers without routes or with slower ones.

const authorization = `Bearer ${process.env['API_KEY']}`;
const petPath = '/v1/pets/';

interface MinimalRequest {
  readonly method: string;
  /** The path and the query. */
  readonly target: string;
  readonly authorization: string | null | undefined;
  readonly readBody: () => Promise<string>;
}

export interface MinimalResponse {
  readonly status: number;
  readonly body: string;
}

const resultResponse = (result: unknown, status = 200): MinimalResponse => ({
  status: result instanceof Failure ? result.status : status,
  body: JSON.stringify(result),
});

const number = (text: string | null) => (text === null ? undefined : Number(text));

export function respond(request: MinimalRequest): MinimalResponse | Promise<MinimalResponse> {
  if (request.authorization !== authorization) return resultResponse(unauthorized);
  const { method, target } = request;
  const end = target.indexOf('?');
  const path = end === -1 ? target : target.slice(0, end);
  if (method === 'GET' && path.startsWith(petPath))
    return resultResponse(getPet({ petId: Number(path.slice(petPath.length)) }));
  if (method === 'GET' && path === '/v1/pets') {
    const parameters = new URLSearchParams(target.slice(path.length + 1));
    const limit = number(parameters.get('limit'));
    const cursor = number(parameters.get('cursor'));
    const page = listPets({ limit, cursor, status: parameters.get('status') ?? undefined });
    return resultResponse(page instanceof Failure ? page : page.records);
  }
  if (method === 'POST' && path === '/v1/pets') return create(request.readBody);
  return resultResponse(nowhere);
}

async function create(readBody: MinimalRequest['readBody']): Promise<MinimalResponse> {
  const body = await readBody();
  try {
    return resultResponse(await createPet(JSON.parse(body)), 201);
  } catch {
    return resultResponse(malformed);
  }
}
